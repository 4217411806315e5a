#!/usr/bin/env bash
# The rules of the house can be broken: a copy of the tree with includes that it must not have is refused, each with its place.
set -euo pipefail
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
for folder in core host plugin-api plugins policies examples test bench docs scripts; do cp -R "$root/$folder" "$tree"; done

mkdir "$tree/core/attic"
edges=(
  core/util/text.cpp core/write/ledger.hpp        # up
  core/replica/search.cpp core/upload/upload_store.hpp  # on the same floor
  core/net/url.cpp host/http/http_types.hpp       # core to host
  host/http/http_server.cpp host/gateway/sessions.hpp   # up
  core/attic/old.cpp core/util/ids.hpp            # of a room on no floor
)
for ((i = 0; i < ${#edges[@]}; i += 2)); do printf '#include "%s"\n' "${edges[i + 1]}" >>"$tree/${edges[i]}"; done

if said=$("$tree/scripts/check-house" 2>&1); then
  echo "Includes that the house does not have were not noticed"
  exit 1
fi
for ((i = 0; i < ${#edges[@]}; i += 2)); do
  grep -qE "^ *${edges[i]}:.*${edges[i + 1]}" <<<"$said" && continue
  printf '%s includes %s, and that was not noticed:\n%s\n' "${edges[i]}" "${edges[i + 1]}" "$said"
  exit 1
done

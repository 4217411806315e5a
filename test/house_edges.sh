#!/usr/bin/env bash
# The rules of the house can be broken: a copy of the tree with includes that it must not have is refused, each with its place.
set -euo pipefail
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
for folder in core host plugin-api plugins policies examples test bench docs scripts; do cp -R "$root/$folder" "$tree"; done

mkdir "$tree/core/attic" "$tree/core/write2"
edges=(
  core/util/text.cpp '"core/write/ledger.hpp"'        # up
  core/util/ids.cpp '<core/write/ledger.hpp>'
  core/util/json.cpp '"../write/ledger.hpp"'
  core/util/paths.cpp '"write/ledger.hpp"'
  core/util/log.cpp '"core/util/../write/ledger.hpp"'
  core/util/error.hpp '"core/write2/ledger.hpp"'      # a room on no floor
  core/util/json.hpp '"core/ledger.hpp"'              # no room
  core/util/text.hpp '"../../host/process/main.hpp"'
  core/replica/search.cpp '"core/upload/upload_store.hpp"'  # on the same floor
  core/net/url.cpp '"host/http/http_types.hpp"'       # core to host
  host/http/http_server.cpp '"host/gateway/agent_events.hpp"'   # up
  host/certify/fake_service.cpp '"host/process/host_process.hpp"'
  core/attic/old.cpp '"core/util/ids.hpp"'            # of a room on no floor
)
spellings=('#include ' '#  include ' '  #include ' '#include')
for ((i = 0; i < ${#edges[@]}; i += 2)); do
  printf '%s%s\n' "${spellings[i / 2 % 4]}" "${edges[i + 1]}" >>"$tree/${edges[i]}"
done

if said=$("$tree/scripts/check-house" 2>&1); then
  echo "Includes that the house does not have were not noticed"
  exit 1
fi
for ((i = 0; i < ${#edges[@]}; i += 2)); do
  grep -F "${edges[i]}:" <<<"$said" | grep -qF "${edges[i + 1]//[\"<>]/}" && continue
  printf '%s includes %s, and that was not noticed:\n%s\n' "${edges[i]}" "${edges[i + 1]}" "$said"
  exit 1
done

#!/usr/bin/env bash
# Fails where the files have more lines of code than FEWER_THAN allows; blank lines and those of a comment alone do not count.
#   test/code_lines.sh FEWER_THAN FILE...
set -euo pipefail
fewer_than=$1
shift
lines=$(cat "$@" | grep -cvE '^[[:space:]]*(//.*)?$')
echo "$lines lines of code"
((lines < fewer_than))

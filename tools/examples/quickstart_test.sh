#!/usr/bin/env bash
# Runs the program of README.md, with epochs of two batches: it ends well and shows a row for each epoch.
set -u

PROGRAM=$(realpath "$1")
readonly PROGRAM

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

output=$(TRAINYARD_LIMIT_BATCHES=2 "$PROGRAM" 2>&1) || fail "$output"
[[ $output == *accuracy* ]] || fail "no accuracy: $output"
for epoch in 1 2 3 4 5; do
  grep -qE "^ *\|? *$epoch\b" <<< "$output" || fail "no row of epoch $epoch: $output"
done
echo "passed"

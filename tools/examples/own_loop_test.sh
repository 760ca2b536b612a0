#!/usr/bin/env bash
# Runs the loop of one's own on a few images: it learns, and so do the averaged weights.
set -u

PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
readonly PROGRAM SMALL_DATA

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

cd "$TEST_TMPDIR" || exit 1
"$SMALL_DATA" small 2560 500 || fail "no data"
output=$("$PROGRAM" --data=small --updates=100 2>&1) || fail "$output"
[[ $(grep -c '^update ' <<< "$output") == 2 ]] || fail "not two lines of progress: $output"
for what in "accuracy" "accuracy of the averaged weights"; do
  accuracy=$(sed -n "s/^$what \([0-9.]*\)$/\1/p" <<< "$output")
  [[ $accuracy > 0.6 ]] || fail "$what is \"$accuracy\": $output"
done
output=$("$PROGRAM" --data=/no/such/folder 2>&1) && fail "it trained on nothing"
[[ $output == *"/no/such/folder: there is no such folder"* ]] || fail "it said: $output"
echo "passed"

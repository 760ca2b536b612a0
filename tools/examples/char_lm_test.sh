#!/usr/bin/env bash
# Trains for some updates on a text of its own: the perplexity must fall, and mistakes have one line each.
set -u

PROGRAM=$(realpath "$1")
readonly PROGRAM

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

cd "$TEST_TMPDIR" || exit 1
for i in $(seq 200); do
  printf 'The rain in Spain stays mainly in the plain, %d times.\n\n' "$i"
done > text

output=$("$PROGRAM" --text=text --length=64 --epochs=2 --seed=3 2>&1) || fail "ended with $?: $output"
[[ $output =~ perplexity:\ ([0-9.]+)\ before,\ ([0-9.]+)\ after ]] || fail "said no perplexity: $output"
python3 -c 'import sys; sys.exit(not float(sys.argv[2]) < float(sys.argv[1]) / 3)' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" \
  || fail "perplexity ${BASH_REMATCH[1]} fell to no less than ${BASH_REMATCH[2]}"

output=$("$PROGRAM" --text=/not/there 2>&1) && fail "trained on nothing"
[[ $output == *"cannot read /not/there"* && $output != *$'\n'* ]] || fail "said: $output"
echo "passed"

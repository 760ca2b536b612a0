#!/usr/bin/env bash
# Trains for a few updates on a real text: the perplexity must fall.
PROGRAM=$(realpath "$1")
source "$(dirname "$0")/test_helpers.sh"

output=$("$PROGRAM" --text=/usr/share/common-licenses/GPL-3 --paragraph_length=64 --max_updates=60 --seed=3 2>&1) || fail "exit code $?: $output"
[[ $output =~ perplexity:\ ([0-9.]+)\ before,\ ([0-9.]+)\ after ]] || fail "no perplexity: $output"
holds "v[1] < v[0] / 3" "${BASH_REMATCH[@]:1:2}" || fail "the perplexity did not fall to a third: $output"
expect_error "cannot read /not/there" "$PROGRAM" --text=/not/there

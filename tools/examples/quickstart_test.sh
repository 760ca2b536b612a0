#!/usr/bin/env bash
# Runs the program of README.md on a part of Fashion-MNIST: it must learn and print a table.
PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
source "$(dirname "$0")/test_helpers.sh"

"$SMALL_DATA" small 2560 500 || fail "no data"
"$PROGRAM" small > output.txt 2>&1 || fail "exit code $?: $(cat output.txt)"
# Of the last evaluation. There are ten classes, so guessing gives 0.1.
accuracy=$(grep -oE 'accuracy [0-9.]+' output.txt | tail -n 1 | cut -d ' ' -f 2)
holds "v[0] > 0.7" "$accuracy" || fail "accuracy $accuracy: $(cat output.txt)"
grep -qE '^ +5/5 ' output.txt || fail "no row of the last epoch: $(cat output.txt)"
expect_error "/no/such/folder: there is no such folder" "$PROGRAM" /no/such/folder

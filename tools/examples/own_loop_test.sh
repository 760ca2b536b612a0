#!/usr/bin/env bash
# Runs the loop without a trainer on a part of Fashion-MNIST: it must learn, the same way each time.
PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
source "$(dirname "$0")/test_helpers.sh"

"$SMALL_DATA" small 2560 500 || fail "no data"
"$PROGRAM" --data=small --updates=100 > first.txt 2>&1 || fail "exit code $?: $(cat first.txt)"
"$PROGRAM" --data=small --updates=100 > second.txt 2>&1 || fail "exit code $?: $(cat second.txt)"
cmp first.txt second.txt || fail "two runs differ: $(cat first.txt second.txt)"
[[ $(cat first.txt) =~ accuracy\ ([0-9.]+).*averaged\ weights\ ([0-9.]+) ]] || fail "no accuracy: $(cat first.txt)"
holds "min(v) > 0.7" "${BASH_REMATCH[@]:1:2}" || fail "it has learnt too little: $(cat first.txt)"
expect_error "/no/such/folder: there is no such folder" "$PROGRAM" --data=/no/such/folder

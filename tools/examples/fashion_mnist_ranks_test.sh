#!/usr/bin/env bash
# Two ranks train together on a part of Fashion-MNIST, and write one summary.
PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
LAUNCH=$(realpath "$3")
source "$(dirname "$0")/test_helpers.sh"

"$SMALL_DATA" small 2560 500 || fail "no data"
# Equal records per update as in one process with batches of 128.
ranks=("$LAUNCH" --nproc=2 -- "$PROGRAM" --data=small --batch_size=64 --max_updates=15)

"${ranks[@]}" --backend=ddp --run_dir=runs/ddp > ddp.txt 2>&1 || fail "ddp: $(cat ddp.txt)"
"${ranks[@]}" --backend=zero1 --summary_json=zero1.json > zero1.txt 2>&1 || fail "zero1: $(cat zero1.txt)"
for summary in runs/ddp/summary.json zero1.json; do
  [[ $(value "$summary" updates) == 15 && $(value "$summary" samples) == 1920 ]] || fail "wrong counts in $(cat "$summary")"
  holds "v[0] > 0.3" "$(value "$summary" eval_accuracy)" || fail "it has learnt too little: $(cat "$summary")"
done
(($(grep -c 'finished: ' ddp.txt) == 1)) || fail "not one summary: $(cat ddp.txt)"

"${ranks[@]}" --backend=sp > sp.txt 2>&1 && fail "each rank trained a model of its own"
grep -q 'use "ddp"' sp.txt || fail "the error names no backend for several processes: $(cat sp.txt)"

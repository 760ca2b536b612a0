#!/usr/bin/env bash
# Runs the example as people do: the same seed twice, mistakes, and an interrupt.
set -u

PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
readonly PROGRAM SMALL_DATA
failures=0

fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}

# value FILE KEY: a number of a summary.
value() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"
}

# expect_error MESSAGE FLAG...: ends with 1, says MESSAGE in one line, and nothing else.
expect_error() {
  local message=$1
  shift
  local output code
  output=$("$PROGRAM" --data=small "$@" 2>&1)
  code=$?
  ((code == 1)) || fail "$*: ended with $code, not 1"
  [[ $output == *"$message"* && $output != *$'\n'* ]] || fail "$*: said: $output"
}

cd "$TEST_TMPDIR" || exit 1
# As many images as 15 updates take, and some more; only the run that is interrupted has all of them.
"$SMALL_DATA" small 2560 500 || fail "no data"

# Twice the same run, once into a folder that is not there yet.
"$PROGRAM" --data=small --max_updates=15 --summary_json=a.json > a.txt 2>&1 || fail "first run"
"$PROGRAM" --data=small --max_updates=15 --run_dir=runs/b > b.txt 2>&1 || fail "second run"
"$PROGRAM" --data=small --max_updates=15 --seed=2 --summary_json=c.json > c.txt 2>&1 || fail "run with another seed"
crc=$(value a.json state_crc32c)
[[ $crc == "$(value runs/b/summary.json state_crc32c)" ]] || fail "the same seed gave another state"
[[ $crc != "$(value c.json state_crc32c)" ]] || fail "another seed gave the same state"
for key in epochs updates samples train_loss eval_loss eval_accuracy seconds samples_per_second; do
  value a.json "$key" > /dev/null || fail "the summary lacks $key"
done
[[ $(value a.json updates) == 15 && $(value a.json samples) == 1920 ]] || fail "wrong counts in $(cat a.json)"
grep -q batches a.txt || fail "no line of progress"
grep -q $'\033' a.txt && fail "control characters where there is no terminal"

# Mistakes.
readonly ALL_DATA=/usr/share/datasets/fashion-mnist
mkdir corrupt cut
cp "$ALL_DATA/train-images-idx3-ubyte.gz" corrupt
printf 'xxxx' | dd of=corrupt/train-images-idx3-ubyte.gz bs=1 seek=5000000 conv=notrunc status=none
head -c 3000000 "$ALL_DATA/train-images-idx3-ubyte.gz" > cut/train-images-idx3-ubyte.gz
cp -r small short
gzip -dc "$ALL_DATA/t10k-labels-idx1-ubyte.gz" | head -c 5000 > short/t10k-labels-idx1-ubyte
expect_error "corrupt/train-images-idx3-ubyte.gz: the gzip file is damaged" --data=corrupt
expect_error "cut/train-images-idx3-ubyte.gz: the gzip file is cut short" --data=cut
expect_error "short/t10k-labels-idx1-ubyte: holds 4992 bytes of data where its header (10000) asks for 10000" --data=short
expect_error "/no/such/folder: there is no such folder" --data=/no/such/folder
expect_error "Illegal value 'five' specified for flag 'epochs'" --epochs=five
expect_error "per_device_batch_size is 0; it must be at least 1" --batch_size=0
expect_error "AdamW: lr is -1" --lr=-1
expect_error "there is no backend \"tpu\"" --backend=tpu
expect_error "\"five\" is not a flag" five
expect_error "its folder is not there or not writable" --summary_json=/no/such/folder/a.json

# An interrupt: the step is finished, the summary is written, the code is its own.
"$PROGRAM" --checkpoint_every=1 --run_dir=interrupted > interrupted.txt 2>&1 &
pid=$!
until compgen -G 'interrupted/step-*' > /dev/null; do # it trains
  kill -0 "$pid" 2> /dev/null || break
  read -r -t 0.01 < <(:)
done
kill -TERM "$pid"
wait "$pid"
code=$?
((code == 3)) || fail "a cancelled run ended with $code, not 3"
grep -q "cancelled (SIGTERM)" interrupted.txt || fail "a cancelled run did not say so"
[[ -e interrupted/summary.json ]] || fail "a cancelled run left no summary"

# Killed as soon as there is a checkpoint, and started again: as if nothing had happened.
"$PROGRAM" --data=small --max_updates=15 --checkpoint_every=4 --run_dir=killed > killed.txt 2>&1 &
pid=$!
until compgen -G 'killed/step-*' > /dev/null; do
  kill -0 "$pid" 2> /dev/null || break
  read -r -t 0.01 < <(:)
done
kill -KILL "$pid"
wait "$pid" 2> /dev/null
"$PROGRAM" --data=small --max_updates=15 --checkpoint_every=4 --run_dir=killed > again.txt 2>&1 || fail "a killed run did not go on"
[[ $(value killed/summary.json state_crc32c) == "$crc" ]] || fail "a killed run ended otherwise"
"$PROGRAM" --data=small --max_updates=15 --checkpoint_every=4 --run_dir=killed > finished.txt 2>&1 || fail "a finished run"
grep -q "finished (the run was finished before; there is nothing to do)" finished.txt || fail "a finished run did not say so"

((failures == 0))

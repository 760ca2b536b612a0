#!/usr/bin/env bash
# Trains an exported model as people do: for a short time, again from a checkpoint, and with mistakes.
set -u

PROGRAM=$(realpath "$1")
MODEL=$(realpath "$2")
readonly PROGRAM MODEL

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# value FILE KEY: a number of a summary.
value() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"
}

# expect_error MESSAGE FLAG...: ends with 1 and says MESSAGE in one line.
expect_error() {
  local message=$1 output code
  shift
  output=$("$PROGRAM" "$@" 2>&1)
  code=$?
  ((code == 1)) || fail "$*: ended with $code, not 1"
  [[ $output == *"$message"* && $output != *$'\n'* ]] || fail "$*: said: $output"
}

cd "$TEST_TMPDIR" || exit 1

# Twice the same run; the second is of two parts.
"$PROGRAM" --model="$MODEL" --max_updates=60 --run_dir=a --weights=tuned.safetensors > a.txt 2>&1 || fail "run: $(cat a.txt)"
python3 -c 'import sys; sys.exit(not float(sys.argv[1]) > 0.7)' "$(value a/summary.json eval_accuracy)" || fail "it has learnt little: $(cat a.txt)"
[[ $(stat -c %s tuned.safetensors) -gt 60000 ]] || fail "no weights were written"
crc=$(value a/summary.json state_crc32c)
"$PROGRAM" --model="$MODEL" --max_updates=60 --run_dir=b > b.txt 2>&1 || fail "second run: $(cat b.txt)"
[[ $crc == "$(value b/summary.json state_crc32c)" ]] || fail "the same seed gave another state"
"$PROGRAM" --model="$MODEL" --max_updates=60 --run_dir=b > c.txt 2>&1 || fail "finished run: $(cat c.txt)"
grep -q "the checkpoint is from a finished run" c.txt || fail "a finished run did not say so: $(cat c.txt)"

"$PROGRAM" --help > help.txt 2>&1
grep -q "export_model.py" help.txt || fail "--help does not say where a model comes from"

# Mistakes.
head -c 5000 "$MODEL" > cut.safetensors
expect_error "/not/there.safetensors" --model=/not/there.safetensors
expect_error "cut.safetensors" --model=cut.safetensors
expect_error "is not a model of tools/convert/export_model.py" --model=tuned.safetensors
expect_error "/no/such/folder: there is no such folder" --model="$MODEL" --data=/no/such/folder
expect_error "is not a compiled step of" --model="$MODEL" --compiled=tuned.safetensors
expect_error "AdamW: lr is -1" --model="$MODEL" --lr=-1
expect_error "/no/such/folder" --model="$MODEL" --weights=/no/such/folder/a.safetensors
echo "passed"

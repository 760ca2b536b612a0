#!/usr/bin/env bash
# Adapts to a text of its own: the perplexity must fall, the base must come back, and mistakes have one line each.
set -u

PROGRAM=$(realpath "$1")
readonly PROGRAM

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# holds EXPRESSION VALUE...: of Python, where v is the list of values.
holds() {
  python3 -c 'import sys; v = [float(x) for x in sys.argv[2:]]; sys.exit(not eval(sys.argv[1]))' "$@"
}

cd "$TEST_TMPDIR" || exit 1
for i in $(seq 200); do
  printf 'The rain in Spain stays mainly in the plain, %d times.\n\n' "$i" >> first
  printf '#define RAIN_%d (SPAIN(%d) & PLAIN)\n\n' "$i" "$i" >> other
done
flags=(--base_text=first --new_text=other --length=64 --base_epochs=2 --epochs=3 --folder=out)

output=$("$PROGRAM" "${flags[@]}" 2>&1) || fail "ended with $?: $output"
[[ $output =~ new\ text:\ ([0-9.]+)\ before,\ ([0-9.]+)\ adapted,\ ([0-9.]+)\ merged ]] || fail "said no perplexity: $output"
holds "v[1] < v[0] / 3 and abs(v[2] - v[1]) < 0.02 * v[1]" "${BASH_REMATCH[@]:1:3}" || fail "it has not learnt: $output"
[[ $output =~ first\ text:\ ([0-9.]+)\ before,\ ([0-9.]+)\ with ]] || fail "said nothing of the first text: $output"
[[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]] || fail "the base has changed: $output"
[[ -s out/adapter_model.safetensors && -s out/adapter_config.json ]] || fail "no adapters were saved"

# The base is there now, and is not trained again.
output=$("$PROGRAM" "${flags[@]}" --epochs=2 2>&1) || fail "ended with $?: $output"
[[ $output == *"goes on from out/model.safetensors"* ]] || fail "did not go on: $output"

output=$("$PROGRAM" --new_text=/not/there 2>&1) && fail "adapted to nothing"
[[ $output == *"cannot read /not/there"* && $output != *$'\n'* ]] || fail "said: $output"
output=$("$PROGRAM" "${flags[@]}" --rank=0 2>&1) && fail "adapted with rank 0"
[[ $output == *"rank is 0"* ]] || fail "said: $output"
output=$("$PROGRAM" "${flags[@]}" --length=32 2>&1) && fail "took a model of another length"
[[ $output == *"out/model.safetensors: the weights do not fit the model"*"places.weight"* ]] || fail "said: $output"
echo "passed"

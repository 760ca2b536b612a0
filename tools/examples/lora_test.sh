#!/usr/bin/env bash
# Adapts a language model from one real text to another: the perplexity must fall, and removing the adapters must
# restore the base model.
PROGRAM=$(realpath "$1")
source "$(dirname "$0")/test_helpers.sh"

flags=(--base_text=/usr/share/common-licenses/GPL-3 --new_text=/usr/include/stdio.h --paragraph_length=64 --base_epochs=2 --epochs=3 --folder=out)
output=$("$PROGRAM" "${flags[@]}" 2>&1) || fail "exit code $?: $output"
[[ $output =~ new\ text:\ ([0-9.]+)\ before,\ ([0-9.]+)\ adapted,\ ([0-9.]+)\ merged ]] || fail "no perplexity: $output"
holds "v[1] < v[0] / 2 and abs(v[2] - v[1]) < 0.02 * v[1]" "${BASH_REMATCH[@]:1:3}" || fail "it has learnt too little: $output"
[[ $output =~ first\ text:\ ([0-9.]+)\ before,\ ([0-9.]+)\ without ]] || fail "no perplexity of the first text: $output"
[[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]] || fail "the base model has changed: $output"
[[ -s out/adapter_model.safetensors && -s out/adapter_config.json ]] || fail "no adapters were saved"

# The base model exists now and is not trained again.
output=$("$PROGRAM" "${flags[@]}" --epochs=1 2>&1) || fail "exit code $?: $output"
[[ $output == *"starts from out/model.safetensors"* ]] || fail "trained the base model again: $output"

expect_error "cannot read /not/there" "$PROGRAM" --new_text=/not/there
output=$("$PROGRAM" "${flags[@]}" --rank=0 2>&1) && fail "accepted rank 0"
[[ $output == *"rank is 0"* ]] || fail "printed: $output"
output=$("$PROGRAM" "${flags[@]}" --paragraph_length=32 2>&1) && fail "accepted a base model of another length"
[[ $output == *"out/model.safetensors: the weights do not fit the model"*"places.weight"* ]] || fail "printed: $output"

#!/usr/bin/env bash
# Fine-tunes: weights are exported bit-exactly, and a few images teach new classes.
# With $TRAINYARD_LONG_TESTS it is evaluated on all test images instead of the first thousand; the training images are the same.
PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
PRETRAINED=$(realpath "$3")
source "$(dirname "$0")/test_helpers.sh"

# accuracy OUTPUT: the last accuracy in it.
accuracy() {
  grep -o 'accuracy [0-9.]*$' <<< "$1" | tail -n 1 | cut -d ' ' -f 2
}

# expect_failure MESSAGE FLAG...: the program fails and prints MESSAGE.
expect_failure() {
  local message=$1 output
  shift
  output=$("$PROGRAM" --data="$data" --weights="$PRETRAINED" "$@" 2>&1) && fail "$*: accepted"
  [[ $output == *"$message"* ]] || fail "$*: printed: $output"
}

data=small
[[ -z ${TRAINYARD_LONG_TESTS:-} ]] || data=/usr/share/datasets/fashion-mnist
"$SMALL_DATA" small 500 1000 || fail "no data"

# Without training, the exported file equals the one that Python wrote.
output=$("$PROGRAM" --data="$data" --weights="$PRETRAINED" --keep_head --epochs=0 --export=copy.safetensors 2>&1) || fail "copy: $output"
cmp copy.safetensors "$PRETRAINED" || fail "the exported file differs"
holds "v[0] > 0.92" "$(accuracy "$output")" || fail "the pretrained network is not accurate: $output"

# Five images of each new class.
output=$("$PROGRAM" --data="$data" --weights="$PRETRAINED" --images_per_class=5 --export=tuned.safetensors 2>&1) || fail "tuned: $output"
tuned=$(accuracy "$output")
holds "v[0] > 0.75" "$tuned" || fail "it has learnt too little: $output"
[[ -s tuned.safetensors ]] || fail "nothing was exported"
output=$("$PROGRAM" --data="$data" --weights= --images_per_class=5 2>&1) || fail "from random weights: $output"
holds "v[0] > v[1]" "$tuned" "$(accuracy "$output")" || fail "accuracy $tuned is not better than from random weights: $output"

expect_failure "/not/there.safetensors" --weights=/not/there.safetensors
head -c 5000 "$PRETRAINED" > cut.safetensors
expect_failure "cut.safetensors" --weights=cut.safetensors
expect_failure "/no/such/folder: there is no such folder" --data=/no/such/folder
expect_failure "/no/such/folder" --epochs=0 --export=/no/such/folder/a.safetensors
expect_failure "images_per_class is 0" --images_per_class=0

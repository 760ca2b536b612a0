#!/usr/bin/env bash
# Fine-tunes as people do: weights come back as they were, few images teach new classes, and mistakes have one line each.
# With $TRAINYARD_LONG_TESTS all test images judge it, and not the first thousand; it learns from the same ones.
set -u

PROGRAM=$(realpath "$1")
PRETRAINED=$(realpath "$2")
SMALL_DATA=$(realpath "$3")
readonly PROGRAM PRETRAINED SMALL_DATA

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# accuracy OUTPUT: the last one it speaks of.
accuracy() {
  grep -o 'accuracy [0-9.]*$' <<< "$1" | tail -n 1 | cut -d ' ' -f 2
}

# expect_error MESSAGE FLAG...: ends with 1 and says MESSAGE.
expect_error() {
  local message=$1 output
  shift
  output=$("$PROGRAM" --data="$data" --weights="$PRETRAINED" "$@" 2>&1) && fail "$*: accepted"
  [[ $output == *"$message"* ]] || fail "$*: said: $output"
}

cd "$TEST_TMPDIR" || exit 1
data=small
[[ -z ${TRAINYARD_LONG_TESTS:-} ]] || data=/usr/share/datasets/fashion-mnist
"$SMALL_DATA" small 500 1000 || fail "no data"

# Only through it: the file that Python wrote, to the byte.
output=$("$PROGRAM" --data="$data" --weights="$PRETRAINED" --keep_head --epochs=0 --export=copy.safetensors 2>&1) || fail "copy: $output"
cmp copy.safetensors "$PRETRAINED" || fail "the copy is another file"
[[ $(accuracy "$output") > 0.92 ]] || fail "it has forgotten the clothes: $output"

# Five images of each new class.
output=$("$PROGRAM" --data="$data" --weights="$PRETRAINED" --images_per_class=5 --export=tuned.safetensors 2>&1) || fail "tuned: $output"
tuned=$(accuracy "$output")
[[ $tuned > 0.75 ]] || fail "it has learnt little: $output"
[[ -s tuned.safetensors ]] || fail "nothing was exported"
output=$("$PROGRAM" --data="$data" --weights= --images_per_class=5 2>&1) || fail "from nothing: $output"
[[ $tuned > $(accuracy "$output") ]] || fail "$tuned is no better than $(accuracy "$output") from random weights"

# Mistakes.
expect_error "/not/there.safetensors" --weights=/not/there.safetensors
head -c 5000 "$PRETRAINED" > cut.safetensors
expect_error "cut.safetensors" --weights=cut.safetensors
expect_error "/no/such/folder: there is no such folder" --data=/no/such/folder
expect_error "/no/such/folder" --epochs=0 --export=/no/such/folder/a.safetensors
expect_error "images_per_class is 0" --images_per_class=0
echo "passed"

#!/usr/bin/env bash
# Trains on folders of images: it must learn, and workers must not change a bit.
PROGRAM=$(realpath "$1")
IMAGE_FILES=$(realpath "$3")
source "$(dirname "$0")/test_helpers.sh"

"$IMAGE_FILES" images 40 64 || fail "no images"
"$PROGRAM" --images=images --batch_size=8 --summary_json=workers.json > workers.txt 2>&1 || fail "$(cat workers.txt)"
"$PROGRAM" --images=images --batch_size=8 --workers=0 --summary_json=loop.json > loop.txt 2>&1 || fail "$(cat loop.txt)"
holds "v[0] > 0.9" "$(value workers.json eval_accuracy)" || fail "it has learnt too little: $(cat workers.txt)"
[[ $(value workers.json state_crc32c) == "$(value loop.json state_crc32c)" ]] || fail "workers changed the result"
expect_error "/no/such/folder/train" "$PROGRAM" --images=/no/such/folder

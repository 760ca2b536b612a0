#!/usr/bin/env bash
# Trains on a part of Fashion-MNIST: equal seeds give equal states, invalid input gives one line, and interrupted and killed
# runs can be resumed.
PROGRAM=$(realpath "$1")
SMALL_DATA=$(realpath "$2")
source "$(dirname "$0")/test_helpers.sh"

# Enough images for 15 updates; only the interrupted run uses all images.
"$SMALL_DATA" small 2560 500 || fail "no data"
short=("$PROGRAM" --data=small --max_updates=15)

# The same run twice, once into a folder that does not exist yet; and once with another seed.
"${short[@]}" --summary_json=a.json > a.txt 2>&1 || fail "first run: $(cat a.txt)"
"${short[@]}" --run_dir=runs/b > b.txt 2>&1 || fail "second run: $(cat b.txt)"
"${short[@]}" --seed=2 --summary_json=c.json > c.txt 2>&1 || fail "run with another seed: $(cat c.txt)"
crc=$(value a.json state_crc32c)
[[ $crc == "$(value runs/b/summary.json state_crc32c)" ]] || fail "the same seed gave another state"
[[ $crc != "$(value c.json state_crc32c)" ]] || fail "another seed gave the same state"
for key in epochs updates samples train_loss eval_loss eval_accuracy seconds samples_per_second; do
  value a.json "$key" > /dev/null || fail "the summary has no $key"
done
[[ $(value a.json updates) == 15 && $(value a.json samples) == 1920 ]] || fail "wrong counts in $(cat a.json)"
holds "v[0] > 0.3" "$(value a.json eval_accuracy)" || fail "it has learnt too little: $(cat a.json)"
grep -q batches a.txt || fail "no progress line"
grep -q $'\033' a.txt && fail "control characters without a terminal"

# Invalid input.
all_data=/usr/share/datasets/fashion-mnist
mkdir corrupt cut
cp "$all_data/train-images-idx3-ubyte.gz" corrupt
printf 'xxxx' | dd of=corrupt/train-images-idx3-ubyte.gz bs=1 seek=5000000 conv=notrunc status=none
head -c 3000000 "$all_data/train-images-idx3-ubyte.gz" > cut/train-images-idx3-ubyte.gz
cp -r small short
gzip -dc "$all_data/t10k-labels-idx1-ubyte.gz" | head -c 5000 > short/t10k-labels-idx1-ubyte
expect_error "corrupt/train-images-idx3-ubyte.gz: the gzip file is damaged" "$PROGRAM" --data=corrupt
expect_error "cut/train-images-idx3-ubyte.gz: the gzip file is cut short" "$PROGRAM" --data=cut
expect_error "short/t10k-labels-idx1-ubyte: holds 4992 bytes of data, but its header (10000) needs 10000" "$PROGRAM" --data=short
expect_error "/no/such/folder: there is no such folder" "$PROGRAM" --data=/no/such/folder
expect_error "Illegal value 'five' specified for flag 'epochs'" "$PROGRAM" --epochs=five
expect_error "per_device_batch_size is 0; it must be at least 1" "${short[@]}" --batch_size=0
expect_error "AdamW: lr is -1" "${short[@]}" --lr=-1
expect_error "there is no backend \"tpu\"" "${short[@]}" --backend=tpu
expect_error "run fashion_mnist_ranks" "${short[@]}" --backend=ddp-amp
expect_error "\"five\" is not a flag" "${short[@]}" five
expect_error "its folder does not exist or is not writable" "${short[@]}" --summary_json=/no/such/folder/a.json

# SIGTERM: the run finishes its step, writes the summary and ends with its own exit code.
"$PROGRAM" --checkpoint_every=1 --run_dir=interrupted > interrupted.txt 2>&1 &
pid=$!
until compgen -G 'interrupted/step-*' > /dev/null; do
  kill -0 "$pid" 2> /dev/null || break
  read -r -t 0.01 < <(:)
done
kill -TERM "$pid"
wait "$pid"
code=$?
((code == 3)) || fail "a cancelled run ended with $code, want 3: $(cat interrupted.txt)"
grep -q "cancelled (SIGTERM)" interrupted.txt || fail "a cancelled run did not report it: $(cat interrupted.txt)"
[[ -e interrupted/summary.json ]] || fail "a cancelled run wrote no summary"

# SIGKILL: the resumed run ends with the same state.
short+=(--checkpoint_every=4 --run_dir=killed)
kill_at_checkpoint killed "${short[@]}"
"${short[@]}" > resumed.txt 2>&1 || fail "resumed: $(cat resumed.txt)"
[[ $(value killed/summary.json state_crc32c) == "$crc" ]] || fail "the resumed run ended with another state"
"${short[@]}" > finished.txt 2>&1 || fail "a finished run: $(cat finished.txt)"
grep -qE "finished \(the (run was finished before|checkpoint is from a finished run)" finished.txt || fail "a finished run did not report it: $(cat finished.txt)"

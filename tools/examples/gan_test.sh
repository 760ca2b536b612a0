#!/usr/bin/env bash
# Two models and two optimizers: the generator must learn, and a killed and resumed run must end bit-identically.
PROGRAM=$(realpath "$1")
source "$(dirname "$0")/test_helpers.sh"

"$PROGRAM" --epochs=4 --run_dir=whole > whole.txt 2>&1 || fail "exit code $?: $(cat whole.txt)"
[[ $(cat whole.txt) =~ circle:\ ([0-9.]+)\ after\ the\ first\ epoch,\ ([0-9.]+)\ after ]] || fail "no distance: $(cat whole.txt)"
holds "v[1] < 0.75 * v[0]" "${BASH_REMATCH[@]:1:2}" || fail "it has learnt too little: $(cat whole.txt)"

kill_at_checkpoint killed "$PROGRAM" --epochs=4 --run_dir=killed
"$PROGRAM" --epochs=4 --run_dir=killed > resumed.txt 2>&1 || fail "resumed: exit code $?: $(cat resumed.txt)"
[[ $(value killed/summary.json state_crc32c) == "$(value whole/summary.json state_crc32c)" ]] || fail "the resumed run ended with another state"
for state in generator_adamw discriminator_adamw; do
  compgen -G "killed/step-*/$state.safetensors" > /dev/null || fail "no checkpoint has $state"
done

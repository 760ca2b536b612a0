#!/usr/bin/env bash
# Two models and two optimizers: a run that was killed and resumed ends as one that was not, to the bit.
set -u

PROGRAM=$(realpath "$1")
readonly PROGRAM
failures=0

fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}

# crc FOLDER: of the final weights.
crc() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/summary.json"))["state_crc32c"])' "$1"
}

cd "$TEST_TMPDIR" || exit 1
"$PROGRAM" --epochs=4 --run_dir=whole > whole.txt 2>&1 || fail "a run: $(cat whole.txt)"

# Killed as soon as there is a checkpoint.
"$PROGRAM" --epochs=4 --run_dir=killed > killed.txt 2>&1 &
pid=$!
until compgen -G 'killed/step-*' > /dev/null; do
  kill -0 "$pid" 2> /dev/null || break
  read -r -t 0.01 < <(:)
done
kill -KILL "$pid"
wait "$pid" 2> /dev/null
[[ ! -e killed/summary.json ]] || fail "the run was over before it was killed"
"$PROGRAM" --epochs=4 --run_dir=killed > resumed.txt 2>&1 || fail "a resumed run: $(cat resumed.txt)"
[[ $(crc killed) == "$(crc whole)" ]] || fail "a killed run ended otherwise"
for state in generator_adamw discriminator_adamw; do
  compgen -G "killed/step-*/$state.safetensors" > /dev/null || fail "no checkpoint has $state"
done

((failures == 0))

#!/usr/bin/env bash
# SIGKILL to a run that trains on a stream of unknown length: it must resume to the bit.
set -eu
exec python3 tools/faults/kill_loop.py --trials=6 --work="$TEST_TMPDIR" \
  --command="tools/faults/train_loop --backend=sp --stream --updates=60 --run_dir={run_dir}"

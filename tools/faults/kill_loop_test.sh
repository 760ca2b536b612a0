#!/usr/bin/env bash
# A few trials of kill_loop.py with small checkpoints, so that script and program stay alive; 200 are run by hand.
set -eu
exec python3 tools/faults/kill_loop.py --trials=6 --work="$TEST_TMPDIR" \
  --command="tools/faults/save_loop --run_dir={run_dir} --steps=20 --elements=30000"

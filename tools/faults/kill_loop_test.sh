#!/usr/bin/env bash
# A few trials of kill_loop.py, so that script and program stay alive; 200 are run by hand.
set -eu
exec python3 tools/faults/kill_loop.py --trials=6 --work="$TEST_TMPDIR"

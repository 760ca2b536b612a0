#!/usr/bin/env bash
# A few trials of rank_faults.py, so that script and program stay alive; 100 are run by hand.
set -eu
exec python3 tools/faults/rank_faults.py kill --trials=4 --work="$TEST_TMPDIR"

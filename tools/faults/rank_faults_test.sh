#!/usr/bin/env bash
# A few short trials of rank_faults.py, so that script and program stay alive; 100 are run by hand.
set -eu
exec python3 tools/faults/rank_faults.py kill --trials=4 --updates=20 --work="$TEST_TMPDIR"

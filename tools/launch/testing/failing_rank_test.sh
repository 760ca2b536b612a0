#!/usr/bin/env bash
# A distributed test in which one rank fails fails, and so does one that selects no
# test case. One that wants CUDA devices that are not there is skipped, and says so.
#
#   failing_rank_test.sh LAUNCHER RANKS_PROGRAM
set -u

failures=0

# expect MESSAGE ARGUMENT...: the test with these arguments fails and says MESSAGE.
expect() {
  local message=$1 output
  shift
  if output=$("$launcher" --nproc=2 --log_dir="$TEST_TMPDIR/logs" -- "$ranks" "$@" 2>&1); then
    echo "FAILED: $*: passed" >&2
    failures=$((failures + 1))
  elif [[ $output != *"$message"* ]]; then
    echo "FAILED: $*: said: $output" >&2
    failures=$((failures + 1))
  fi
}
launcher=$1
ranks=$2

TRAINYARD_FAIL_RANK=1 expect "the first to fail was rank 1, which ended with exit code 1"
expect "no test case was linked or selected" --gtest_filter=None.None

if ! output=$("$launcher" --nproc=2 --log_dir="$TEST_TMPDIR/logs" -- "$ranks" --device=cuda 2>&1) ||
  [[ $output != *"2 ranks need as many CUDA devices, and there are 0"* ]]; then
  echo "FAILED: --device=cuda: said: $output" >&2
  failures=$((failures + 1))
fi
((failures == 0))

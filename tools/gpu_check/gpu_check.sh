#!/usr/bin/env bash
# Checks Trainyard on this machine's GPUs and writes a report to attach to an issue.
#
#   tools/gpu_check/gpu_check.sh [REPORT.md]
#
# Builds under --config=cuda, runs all tests with the tags gpu and multi_gpu, and the
# benchmark of one step beside PyTorch's own loop. Exits with 1 if the build or a test failed,
# and with 2 if every test was skipped: then nothing was checked.
#
# TRAINYARD_BAZEL replaces tools/bazel, for the test of this script.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bazel=${TRAINYARD_BAZEL:-$root/tools/bazel}
report=${1:-gpu_report.md}
report=$(realpath -m "$report")
cd "$root" || exit 1
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
code=0

say() { printf '%s\n' "$@" >>"$report"; }
block() { say '' '```' "$(cat "$1")" '```' ''; }

: >"$report"
say "# Trainyard on GPUs" "" "Commit: $(git rev-parse HEAD 2>/dev/null || echo unknown)" ""
say "## Machine"
{
  uname -srm
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv
  else
    echo "nvidia-smi is not there"
  fi
} >"$log/machine" 2>&1
block "$log/machine"

say "## Tests"
"$bazel" test --config=cuda --config=ci --test_tag_filters=gpu,multi_gpu --build_tests_only \
  --test_output=all //... >"$log/tests" 2>&1
tests=$?
# 4: no test was selected.
if ((tests != 0)); then code=1; fi
grep -E '^//.*(PASSED|FAILED|TIMEOUT|NO STATUS|SKIPPED)' "$log/tests" | sort >"$log/table"
passed=$(grep -c PASSED "$log/table")
failed=$(grep -c -E 'FAILED|TIMEOUT|NO STATUS' "$log/table")
cases=$(grep -c -E '^\[       OK \]' "$log/tests")
# A test with too few GPUs says so once per rank, runs no case and passes.
awk '/Test output for / { target = $0 }
     /needs? as many CUDA devices/ { sub(/^\[[0-9]+\] /, ""); print target ": " $0 }' "$log/tests" |
  sort -u | sed 's/.*: //' | sort | uniq -c >"$log/reasons"
skipped=$(awk '{ total += $1 } END { print total + 0 }' "$log/reasons")
say "" "$((passed - skipped)) targets passed, $skipped were skipped, $failed failed (exit code $tests)." \
  "$cases test cases ran and passed."
block "$log/table"
if ((skipped > 0)); then
  say "Reasons of skipped targets:"
  block "$log/reasons"
fi
if ((tests != 0)); then
  say "The end of the log:"
  tail -n 200 "$log/tests" >"$log/tail"
  block "$log/tail"
elif ((passed == skipped)) || grep -q 'and there are 0$' "$log/reasons"; then
  say "Nothing was checked: this machine has no GPU that CUDA can use."
  code=2
fi

say "## One step"
if "$bazel" run --config=cuda //tools/bench:step >"$log/step" 2>&1; then
  block "$log/step"
else
  say "" "The benchmark failed:"
  tail -n 50 "$log/step" >"$log/tail"
  block "$log/tail"
  ((code == 0)) && code=1
fi
echo "$report: $((passed - skipped)) targets passed, $skipped were skipped, $failed failed"
exit "$code"

#!/usr/bin/env bash
# The report of gpu_check, with a bazel that only prints.
#
#   gpu_check_test.sh GPU_CHECK
set -u
check=$1
failures=0
report=$TEST_TMPDIR/report.md
export TRAINYARD_BAZEL=$TEST_TMPDIR/bazel

# expect CODE TEXT...: gpu_check ends with CODE and its report has every TEXT.
expect() {
  local code=$1 text
  shift
  "$check" "$report" >/dev/null 2>&1
  local got=$?
  if ((got != code)); then
    echo "FAILED: exit code $got, not $code" >&2
    failures=$((failures + 1))
  fi
  for text in "$@"; do
    if ! grep -qF -e "$text" "$report"; then
      echo "FAILED: no \"$text\" in: $(cat "$report")" >&2
      failures=$((failures + 1))
    fi
  done
}

fake() {
  printf '#!/usr/bin/env bash\necho "$*" >> %q\n[[ $1 == run ]] && { echo "step 12 us"; exit 0; }\n%s\n' \
    "$TEST_TMPDIR/calls" "$1" >"$TRAINYARD_BAZEL"
  chmod +x "$TRAINYARD_BAZEL"
}

fake 'echo "[       OK ] A.B (1 ms)"; echo "//x:a_cuda_test PASSED in 1s"; exit 0'
expect 0 "1 targets passed, 0 were skipped, 0 failed" "1 test cases ran and passed" "//x:a_cuda_test" "step 12 us"
if ! grep -qF -- "--test_tag_filters=gpu,multi_gpu" "$TEST_TMPDIR/calls"; then
  echo "FAILED: the tests of GPUs were not selected" >&2
  failures=$((failures + 1))
fi
fake 'echo "boom"; echo "//x:a_cuda_test FAILED in 1s"; exit 3'
expect 1 "0 targets passed, 0 were skipped, 1 failed" "boom"
# As the programs print it: both ranks say why, and no case is named.
skipped() {
  echo "==================== Test output for $1:"
  echo "[0] 2 ranks need as many CUDA devices, and there are $2"
  echo "[1] 2 ranks need as many CUDA devices, and there are $2"
  echo "$1 PASSED in 1s"
}
fake "$(declare -f skipped); skipped //x:a_cuda_2_test 0; skipped //x:b_cuda_2_test 0"
expect 2 "0 targets passed, 2 were skipped, 0 failed" "Nothing was checked" "2 2 ranks need as many CUDA devices, and there are 0"
fake "$(declare -f skipped); skipped //x:a_cuda_2_test 1"'; echo "[       OK ] A.B (1 ms)"; echo "//x:a_cuda_test PASSED in 1s"'
expect 0 "1 targets passed, 1 were skipped, 0 failed" "and there are 1"
((failures == 0))

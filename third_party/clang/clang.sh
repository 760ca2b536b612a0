#!/usr/bin/env bash
# The compiler of the toolchain: clang 19, with dependency files that Bazel can read when
# a precompiled header is used.
#
# Precompiled headers name the files they were made from by absolute paths. Here those all
# begin with /proc/self/cwd, so that the bytes are the same in every clone and caches can
# share them. Bazel wants paths relative to that folder, and the precompiled header itself
# among them.
set -u

for ((i = 1; i <= $#; i++)); do
  case ${!i} in
    -include-pch) ((j = i + 1)) && precompiled=${!j} ;;
    -MF) ((j = i + 1)) && dependencies=${!j} ;;
  esac
done

[[ -n ${precompiled:-} && -n ${dependencies:-} ]] || exec /usr/bin/clang-19 "$@"
/usr/bin/clang-19 "$@" || exit
sed -i -e 's,/proc/self/cwd/,,' -e "1s,:,: $precompiled," "$dependencies"

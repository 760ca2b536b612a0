#!/usr/bin/env bash
# Drives the real tools/bazel on machines made of empty files and small programs.
#
#   bazel_wrapper_test.sh PATH_OF_TOOLS_BAZEL
set -u

readonly WRAPPER=$PWD/$1
readonly ALL="clang-19 lld-19 g++ python3 python3-pip protobuf-compiler cmake pkg-config bazel-skylib bazel-platforms bazel-rules-proto \
bazel-rules-java libabsl-dev libprotobuf-dev libgoogle-glog-dev libgtest-dev libgmock-dev libbenchmark-dev \
libgloo-dev zlib1g-dev libpng-dev libjpeg62-turbo-dev dataset-fashion-mnist bazel-bootstrap"
readonly ADVICE="install these Debian packages and run it again:"
failures=0

fail() {
  echo "FAILED: $test: $1" >&2
  failures=$((failures + 1))
}

# expect NAME WANTED GOT
expect() {
  [[ $2 == "$3" ]] || fail "$1 is"$'\n'"  $3"$'\n'"and not"$'\n'"  $2"
}

# A program on the machine's PATH (or at a path of its own) with the given body.
program() {
  local path=$1
  [[ $path == /* ]] || path=$machine/bin/$path
  mkdir -p "${path%/*}"
  printf '#!/bin/bash\n%s\n' "$2" > "$path"
  chmod +x "$path"
}

# Starts a test on a new machine that has only a shell's own tools and a clone.
begin() {
  test=$1
  machine=$TEST_TMPDIR/$test
  mkdir -p "$machine/bin" "$machine/clone/tools" "$machine/root"
  cp -L "$WRAPPER" "$machine/clone/tools/bazel"
  touch "$machine/clone/WORKSPACE"
  local tool
  for tool in bash env grep mktemp readlink rm tail; do
    ln -s "$(type -P "$tool")" "$machine/bin/$tool"
  done
}

# Everything the wrapper looks for. Bazel prints where it runs and what it was given.
install_all() {
  local path
  for path in g++ clang-19 ld.lld-19 python3 pip3 protoc cmake pkg-config; do program "$path" "exit 99"; done
  for path in share/bazel/tools/skylib/lib.bzl share/bazel/tools/platforms/BUILD \
    share/bazel/rules/{proto,java}/WORKSPACE share/datasets/fashion-mnist/train \
    include/{absl/base/config,google/protobuf/message,glog/logging,gtest/gtest,gmock/gmock}.h \
    include/{benchmark/benchmark,gloo/config,zlib,png,jpeglib}.h; do
    mkdir -p "$machine/root/usr/$path" && rmdir "$machine/root/usr/$path" && touch "$machine/root/usr/$path"
  done
  program "$machine/root/usr/bin/bazel-4" 'echo "bazel-4 in $PWD:"; printf "<%s>" "$@"; exit 7'
  # Debian's launcher. The real one would call tools/bazel again, for ever.
  program "$machine/root/usr/bin/bazel" 'echo launcher; exit 98'
}

# run ARGUMENT...: runs the wrapper on the machine; sets out, err and code.
run() {
  out=$(cd "${from:-$machine/clone}" && env -i PATH="$machine/bin" TMPDIR="$TEST_TMPDIR" \
    TRAINYARD_WRAPPER_TEST_ROOT="$machine/root" "${settings[@]}" \
    "${called:-$machine/clone/tools/bazel}" "$@" 2> "$machine/stderr")
  code=$?
  err=$(< "$machine/stderr")
}
settings=(X=)

begin passes_arguments_and_exit_code_through
install_all
run test '//a b' '' '*' $'two\nlines' --x="y z"
expect output "bazel-4 in $machine/clone:"$'\n<test><//a b><><*><two\nlines><--x=y z>' "$out"
expect errors "" "$err"
expect code 7 "$code"

begin runs_what_the_launcher_names_and_not_the_launcher
install_all
rm "$machine/root/usr/bin/bazel-4"
program named 'echo "named: $*"; exit 3'
settings=(BAZEL_REAL="$machine/bin/named")
run info
expect output "named: info" "$out"
expect code 3 "$code"
settings=(BAZEL_REAL="$machine/absent")
run info
expect errors "tools/bazel: BAZEL_REAL is $machine/absent, which is not a program" "$err"
expect code 1 "$code"
settings=(X=)

begin runs_a_bazel_without_launcher
install_all
rm "$machine/root/usr/bin/bazel-4" "$machine/root/usr/bin/bazel"
cp /bin/echo "$machine/root/usr/bin/bazel"
run info
expect output "info" "$out"
expect code 0 "$code"

begin stays_in_a_nested_workspace_and_enters_its_own_from_outside
install_all
mkdir -p "$machine/clone/nested/folder" "$machine/elsewhere"
touch "$machine/clone/nested/WORKSPACE"
from=$machine/clone/nested/folder run build
expect output "bazel-4 in $machine/clone/nested/folder:"$'\n<build>' "$out"
from=$machine/elsewhere run build
expect output "bazel-4 in $machine/clone:"$'\n<build>' "$out"
ln -s "$machine/clone/tools/bazel" "$machine/bin/bazel"
called=$machine/bin/bazel from=$machine/elsewhere run build
expect output "bazel-4 in $machine/clone:"$'\n<build>' "$out"

begin names_every_package_where_there_is_no_apt_get
run test //...
expect errors "tools/bazel: this is not a Debian machine; $ADVICE $ALL" "$err"
expect output "" "$out"
expect code 1 "$code"

begin names_the_one_missing_package_to_other_users_than_root
install_all
rm "$machine/root/usr/include/zlib.h"
program apt-get 'echo called >> "${0%/*}/apt-get.called"'
program id 'echo 1000'
run test //...
expect errors "tools/bazel: only root can install packages; $ADVICE zlib1g-dev" "$err"
expect code 1 "$code"
settings=(TRAINYARD_NO_INSTALL=1)
run test //...
expect errors "tools/bazel: TRAINYARD_NO_INSTALL is set; $ADVICE zlib1g-dev" "$err"
expect code 1 "$code"
settings=(X=)
[[ ! -e $machine/bin/apt-get.called ]] || fail "apt-get was called"

begin asks_for_the_sanitizers_and_coverage_packages_only_with_their_configurations
install_all
settings=(TRAINYARD_NO_INSTALL=1)
for config in asan tsan coverage; do
  run test --config="$config" //...
  expect errors "tools/bazel: TRAINYARD_NO_INSTALL is set; $ADVICE libclang-rt-19-dev llvm-19" "$err"
done
run test --config=cuda //...
expect code 7 "$code"
settings=(X=)

begin says_why_apt_get_failed
install_all
rm "$machine/root/usr/include/zlib.h" "$machine/bin/protoc"
program id 'echo 0'
program apt-get '[[ $* != *install* ]] || { echo "W: slow"; echo "E: Unable to fetch some archives" >&2; exit 100; }'
run test //...
expect "last line" "tools/bazel: apt-get failed (E: Unable to fetch some archives; all of it in LOG); \
$ADVICE protobuf-compiler zlib1g-dev" "$(sed -n '$s|all of it in [^)]*|all of it in LOG|p' <<< "$err")"
expect "number of lines" 2 "$(wc -l <<< "$err")"
expect code 1 "$code"

begin installs_what_is_missing_and_goes_on
install_all
rm "$machine/root/usr/include/zlib.h" "$machine/root/usr/bin/bazel-4"
program id 'echo 0'
program apt-get "echo \"\$@\" >> $machine/apt-get.calls
[[ \$* != *install* ]] || printf '%s\n' dlstatus:1:10.5:x dlstatus:2:80:x pmstatus:y:60:x pmstatus:y:70:x other:: >&3
[[ \$* != *install* ]] || { > $machine/root/usr/include/zlib.h; \
/bin/ln -s /bin/true $machine/root/usr/bin/bazel-4; }"
run build
expect errors "tools/bazel: installing what the build needs and this machine lacks: zlib1g-dev bazel-bootstrap
tools/bazel: downloading packages: 0 %
tools/bazel: downloading packages: 75 %
tools/bazel: installing packages: 50 %" "$err"
expect code 0 "$code"
expect calls "-qq -o DPkg::Lock::Timeout=300 update
-qq -o DPkg::Lock::Timeout=300 -y --no-install-recommends -o APT::Status-Fd=3 install zlib1g-dev bazel-bootstrap" \
  "$(< "$machine/apt-get.calls")"

begin installs_the_oldest_clang_that_the_machine_can_have
install_all
rm "$machine/bin/clang-19" "$machine/bin/ld.lld-19"
program id 'echo 0'
# The lists of packages are there after an update only.
program apt-cache "[[ -e $machine/updated && \$* == 'show clang-'2[12] ]]"
program apt-get "[[ \$* != *update* ]] || > $machine/updated
[[ \$* != *install* ]] || { /bin/ln -s /bin/true $machine/bin/clang-21; /bin/ln -s /bin/true $machine/bin/ld.lld-21; }"
run build
expect errors "tools/bazel: installing what the build needs and this machine lacks: clang-21 lld-21" "$err"
expect code 7 "$code"
program clang-22 "exit 99"
settings=(TRAINYARD_CLANG=22 TRAINYARD_NO_INSTALL=1)
run build
expect errors "tools/bazel: TRAINYARD_NO_INSTALL is set; $ADVICE clang-22 lld-22" "$err"
settings=(TRAINYARD_NO_INSTALL=1)
run test --config=asan
expect errors "tools/bazel: TRAINYARD_NO_INSTALL is set; $ADVICE libclang-rt-21-dev llvm-21" "$err"
settings=(X=)

begin says_so_when_installing_did_not_help
install_all
rm "$machine/root/usr/include/zlib.h"
program id 'echo 0'
program apt-get 'exit 0'
run build
expect "last line" "tools/bazel: apt-get ended well but files are still missing; $ADVICE zlib1g-dev" "${err##*$'\n'}"
expect code 1 "$code"

begin explains_the_first_build_and_no_other
install_all
settings=(HOME="$machine/home")
run build
expect "first words" "tools/bazel: the first build" "${err% fetches*}"
run info
expect errors "" "$err"
mkdir -p "$machine/home/.cache/trainyard"
run build
expect errors "" "$err"
settings=(X=)

((failures == 0)) && echo "all tests passed"

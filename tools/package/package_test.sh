#!/usr/bin/env bash
# Unpacks the package, builds a new project against it by CMake and a small program by pkg-config, and runs both.
set -eu

fail() {
  echo "FAIL: $1" >&2
  exit 1
}

tar -xzf tools/package/trainyard.tar.gz -C "$TEST_TMPDIR"
python3 -B tools/project_template/new_project.py "$TEST_TMPDIR/project" ring
library=$(find -L "$TEST_SRCDIR" -name libc10.so -print -quit)
torch=$(dirname "$(dirname "$(readlink -f "$library")")")
[[ -e $torch/include/ATen/core/Tensor.h ]] || fail "there is no libtorch at $torch"
cd "$TEST_TMPDIR"

# What cmake prints, as one line.
configure() {
  cmake -S project -B "$1" -DCMAKE_PREFIX_PATH="$PWD/trainyard" "${@:2}" 2>&1 | tr -s ' \n' ' '
}

# Mistakes that a user makes.
[[ $(configure wrong) == *"give the folder of libtorch "*"-DTrainyard_TORCH=FOLDER"* ]] || fail "no hint at Trainyard_TORCH"
[[ $(configure wrong -DTrainyard_TORCH=/nowhere) == *"Trainyard_TORCH is /nowhere, and there is no "* ]] || fail "a folder without libtorch was taken"
version=other/include/torch/headeronly/version.h
mkdir -p "${version%/*}"
printf '#define TORCH_VERSION_%s\n' 'MAJOR 1' 'MINOR 2' 'PATCH 3' > "$version"
[[ $(configure wrong -DTrainyard_TORCH="$PWD/other") == *"/other has 1.2.3"* ]] || fail "another libtorch was taken"

configure build -DTrainyard_TORCH="$torch" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
cmake --build build
build/ring sp run | tee out
grep -q "^10/10 " out || fail "the program did not train 10 epochs"
[[ -e run/metrics.jsonl ]] || fail "the program wrote no metrics"

export PKG_CONFIG_PATH=$PWD/trainyard/lib/pkgconfig
read -r -a flags <<< "$(pkg-config --define-variable=torch="$torch" --cflags --libs trainyard)"
cat > rate.cc << 'END'
#include <cstdio>

#include "schedulers/cosine.h"

int main() {
  const trainyard::RunLength run{.num_epochs = 1, .updates_per_epoch = 10, .total_updates = 10};
  std::printf("%g\n", trainyard::Cosine({.min_ratio = 0.5})(run)->ValueAt(10, 3));
}
END
"${CXX:-g++}" rate.cc -o rate "${flags[@]}"
[[ $(./rate) == 1.5 ]] || fail "the program prints $(./rate)"

// Reads a safetensors file into tensors and writes them to another:
//
//   tools/bazel run //tools/convert:safetensors_copy -- $PWD/in $PWD/out
//
// What Python wrote comes out as it went in, to the byte, if its writer was of
// today: older ones and other languages' sort tensors otherwise.
#include <absl/status/status.h>

#include <iostream>

#include "trainer/checkpoint/safetensors/safetensors.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: safetensors_copy FROM TO\n";
    return 2;
  }
  const auto file = trainyard::ReadSafetensors(argv[1]);
  const absl::Status status =
      file.ok()
          ? trainyard::WriteSafetensors(argv[2], file->tensors, file->metadata)
          : file.status();
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}

// Says of each file whether it is a valid safetensors file, and why not:
//
//   tools/bazel run //tools/convert:safetensors_check -- $PWD/model.safetensors
//   find . -name '*.safetensors' | safetensors_check -
//
// Exits with 1 if any is not. Only headers are read, and libtorch is not
// needed.
#include <iostream>
#include <string>

#include "trainer/checkpoint/safetensors/safetensors_header.h"
#include "trainer/io/input_file.h"

namespace {

bool Check(const std::string& path) {
  const auto file = trainyard::InputFile::Open(path);
  absl::Status status = file.status();
  size_t tensors = 0;
  if (file.ok()) {
    const auto header = trainyard::ReadSafetensorsHeader(*file);
    status = header.status();
    if (header.ok()) tensors = header->tensors.size();
  }
  if (status.ok()) {
    std::cout << "ok " << path << ": " << tensors << " tensors\n";
  } else {
    std::cout << "bad " << status.message() << "\n";
  }
  return status.ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: safetensors_check FILE... (- for names on standard "
                 "input, a line each)\n";
    return 2;
  }
  bool all = true;
  for (int i = 1; i < argc; ++i) {
    std::string path = argv[i];
    if (path != "-") {
      all = Check(path) && all;
    } else {
      while (std::getline(std::cin, path)) all = Check(path) && all;
    }
  }
  return all ? 0 : 1;
}

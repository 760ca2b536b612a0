// ZipBytes makes zip archives for tests, as PyTorch writes them. Free of
// libtorch.
//
//   const std::string bytes = ZipBytes({{"a/one", "first"}, {"a/two", ""}});
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_TESTING_ZIP_BYTES_H_
#define TRAINYARD_TRAINER_IO_TESTING_ZIP_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

struct ZipPart {
  std::string name;
  std::string bytes;
  // What the directory says about it: by default stored, and not encrypted.
  uint16_t method = 0;
  uint16_t flags = 0;
};

// With `wide`, all numbers are in zip64 fields, as in files of over 4 GB.
std::string ZipBytes(const std::vector<ZipPart>& parts, bool wide = false);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_TESTING_ZIP_BYTES_H_

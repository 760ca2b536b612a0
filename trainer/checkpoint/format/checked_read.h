// ReadChecked reads parts of a file and computes the checksum of each, on
// several threads if there is much to read. Free of libtorch.
//
//   std::vector<CheckedPart> parts = {{.offset = 0, .size = 8, .to = buffer}};
//   absl::Status read = ReadChecked(file, parts);  // sets parts[0].crc32c
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_CHECKED_READ_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_CHECKED_READ_H_

#include <absl/status/status.h>

#include <cstdint>
#include <vector>

#include "trainer/io/input_file.h"

namespace trainyard {

struct CheckedPart {
  uint64_t offset = 0;
  uint64_t size = 0;
  // Where the bytes go. Null: only the checksum is computed.
  void* to = nullptr;
  uint32_t crc32c = 0;
};

absl::Status ReadChecked(const InputFile& file,
                         std::vector<CheckedPart>& parts);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_CHECKED_READ_H_

// Fuzzes the header of a safetensors file: it is rejected, or valid and the
// same when written and read again.
#include <cstdlib>

#include "trainer/checkpoint/fuzz/fuzz_entry.h"
#include "trainer/checkpoint/safetensors/safetensors_header.h"

namespace trainyard {

void FuzzOne(std::string_view bytes) {
  // The first two bytes are the size of the data, so that it can match.
  if (bytes.size() < 2) return;
  const uint64_t data_size = static_cast<unsigned char>(bytes[0]) +
                             256U * static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(2);
  const auto header = ParseSafetensorsHeader(bytes, data_size);
  if (!header.ok()) return;
  const auto written = FormatSafetensorsHeader(*header);
  if (!written.ok()) std::abort();
  const auto again =
      ParseSafetensorsHeader(std::string_view(*written).substr(8), data_size);
  if (!again.ok() || again->tensors.size() != header->tensors.size() ||
      again->metadata != header->metadata) {
    std::abort();
  }
}

}  // namespace trainyard

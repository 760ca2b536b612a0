#include "trainer/data/idx_files.h"

#include <ATen/ops/empty.h>
#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <c10/util/accumulate.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "trainer/io/gzip_file.h"

namespace trainyard {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are swapped from big-endian");

uint32_t BigEndian32(const char* at) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(at);
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 |
         uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

std::optional<at::ScalarType> TypeOf(unsigned char code) {
  switch (code) {
    case 0x08:
      return at::kByte;
    case 0x09:
      return at::kChar;
    case 0x0B:
      return at::kShort;
    case 0x0C:
      return at::kInt;
    case 0x0D:
      return at::kFloat;
    case 0x0E:
      return at::kDouble;
    default:
      return std::nullopt;
  }
}

// Copies big-endian values of `width` bytes as native ones.
void CopySwapped(const char* from, char* to, size_t bytes, size_t width) {
  if (width == 1) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (size_t value = 0; value < bytes; value += width) {
    for (size_t byte = 0; byte < width; ++byte)
      to[value + byte] = from[value + width - 1 - byte];
  }
}

}  // namespace

absl::StatusOr<at::Tensor> ReadIdxFile(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadMaybeGzipFile(path);
  if (!content.ok()) return content.status();
  const std::string& bytes = *content;
  if (bytes.size() < 4)
    return absl::DataLossError(
        absl::StrCat(path, ": the IDX header is truncated"));
  const auto code = static_cast<unsigned char>(bytes[2]);
  const std::optional<at::ScalarType> type = TypeOf(code);
  const auto dims = static_cast<size_t>(static_cast<unsigned char>(bytes[3]));
  if (bytes[0] != 0 || bytes[1] != 0 || !type.has_value() || dims == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is not an IDX file (it begins with 0x",
        absl::Hex(BigEndian32(bytes.data()), absl::kZeroPad8), ")"));
  }
  const size_t header = 4 + 4 * dims;
  if (bytes.size() < header)
    return absl::DataLossError(
        absl::StrCat(path, ": the IDX header is truncated"));

  const size_t width = c10::elementSize(*type);
  std::vector<int64_t> sizes;
  size_t expected = width;
  for (size_t dim = 0; dim < dims; ++dim) {
    const uint32_t size = BigEndian32(bytes.data() + 4 + 4 * dim);
    sizes.push_back(size);
    // The product must not overflow: a crafted header would pass as a small
    // one.
    if (size != 0 && expected > std::numeric_limits<size_t>::max() / size) {
      return absl::DataLossError(
          absl::StrCat(path, ": the sizes in the IDX header overflow"));
    }
    expected *= size;
  }
  if (bytes.size() - header != expected) {
    return absl::DataLossError(
        absl::StrCat(path, ": holds ", bytes.size() - header,
                     " bytes of data, but its header (",
                     absl::StrJoin(sizes, " x "), ") needs ", expected));
  }
  at::Tensor tensor = at::empty(sizes, *type);
  CopySwapped(bytes.data() + header, static_cast<char*>(tensor.data_ptr()),
              expected, width);
  return tensor;
}

}  // namespace trainyard

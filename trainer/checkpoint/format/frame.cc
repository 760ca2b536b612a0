#include "trainer/checkpoint/format/frame.h"

#include <absl/strings/str_cat.h>

#include "trainer/io/crc32c.h"

namespace trainyard {
namespace {

constexpr size_t kBefore = 12;
constexpr size_t kAround = kBefore + 4;

uint32_t Masked(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

void AppendUint32(uint32_t value, std::string& to) {
  for (int shift = 0; shift < 32; shift += 8) {
    to.push_back(static_cast<char>(value >> shift));
  }
}

uint32_t Uint32At(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

}  // namespace

std::string Framed(std::string_view magic, std::string_view message) {
  std::string file(magic);
  AppendUint32(static_cast<uint32_t>(message.size()), file);
  file += message;
  AppendUint32(Masked(Crc32c(file.data(), file.size())), file);
  return file;
}

absl::StatusOr<std::string_view> Unframed(std::string_view magic,
                                          std::string_view file) {
  if (file.size() < kAround || file.size() > kMaxFrame) {
    return absl::DataLossError(
        absl::StrCat("has ", file.size(), " bytes, which is too ",
                     file.size() < kAround ? "few" : "many"));
  }
  if (file.substr(0, magic.size()) != magic) {
    return absl::DataLossError(
        "does not begin with the magic bytes of its kind");
  }
  const uint64_t length = Uint32At(file, magic.size());
  if (length != file.size() - kAround) {
    return absl::DataLossError(absl::StrCat(
        "has ", file.size(), " bytes; it must have ", length + kAround));
  }
  const size_t end = kBefore + length;
  if (Masked(Crc32c(file.data(), end)) != Uint32At(file, end)) {
    return absl::DataLossError("is damaged: its checksum does not match");
  }
  return file.substr(kBefore, length);
}

}  // namespace trainyard

#include "trainer/io/testing/zip_bytes.h"

#include <zlib.h>

#include <cstdint>

namespace trainyard {
namespace {

std::string Little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return text;
}

}  // namespace

std::string ZipBytes(const std::vector<ZipPart>& parts, bool wide) {
  std::string file;
  std::string directory;
  for (const ZipPart& part : parts) {
    const uint64_t offset = file.size();
    const uint64_t size = part.bytes.size();
    const uint32_t crc = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(part.bytes.data()), size));
    file += "PK\x03\x04" + std::string(22, '\0') + Little(part.name.size(), 2) +
            Little(3, 2) + part.name + "pad" + part.bytes;
    const std::string extra = wide ? Little(1, 2) + Little(24, 2) +
                                         Little(size, 8) + Little(size, 8) +
                                         Little(offset, 8)
                                   : "";
    const uint64_t number = wide ? 0xffffffff : size;
    directory += "PK\x01\x02" + Little(0, 4) + Little(part.flags, 2) +
                 Little(part.method, 2) + Little(0, 4) + Little(crc, 4) +
                 Little(number, 4) + Little(number, 4) +
                 Little(part.name.size(), 2) + Little(extra.size(), 2) +
                 Little(0, 10) + Little(wide ? 0xffffffff : offset, 4) +
                 part.name + extra;
  }
  const uint64_t start = file.size();
  file += directory;
  if (wide) {
    const uint64_t record = file.size();
    file += "PK\x06\x06" + Little(44, 8) + Little(0, 12) +
            Little(parts.size(), 8) + Little(parts.size(), 8) +
            Little(directory.size(), 8) + Little(start, 8);
    file += "PK\x06\x07" + Little(0, 4) + Little(record, 8) + Little(1, 4);
  }
  file += "PK\x05\x06" + Little(0, 4);
  file += wide ? std::string(12, '\xff')
               : Little(parts.size(), 2) + Little(parts.size(), 2) +
                     Little(directory.size(), 4) + Little(start, 4);
  return file + Little(0, 2);
}

}  // namespace trainyard

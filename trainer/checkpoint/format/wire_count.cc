#include "trainer/checkpoint/format/wire_count.h"

#include <cstddef>

namespace trainyard {
namespace {

bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Skips a field. `entry` is its content if it is a message.
bool TakeField(std::string_view& bytes, uint64_t& field,
               std::string_view& entry) {
  uint64_t tag = 0;
  if (!TakeVarint(bytes, tag)) return false;
  field = tag >> 3;
  entry = {};
  uint64_t size = 0;
  switch (tag & 7) {
    case 0:
      return TakeVarint(bytes, size);
    case 1:
      size = 8;
      break;
    case 2:
      if (!TakeVarint(bytes, size)) return false;
      break;
    case 3:  // groups, which nobody writes: their parts count as fields
    case 4:
      return true;
    case 5:
      size = 4;
      break;
    default:
      return false;
  }
  if (size > bytes.size()) return false;
  entry = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

// Calls visit(field, content) for each field.
template <class Visit>
void ForEachField(std::string_view bytes, const Visit& visit) {
  uint64_t field = 0;
  std::string_view entry;
  while (!bytes.empty() && TakeField(bytes, field, entry)) visit(field, entry);
}

}  // namespace

WireCount CountOnWire(std::string_view message, int outer_field,
                      int inner_field) {
  WireCount count;
  const auto outer = static_cast<uint64_t>(outer_field);
  const auto inner = static_cast<uint64_t>(inner_field);
  ForEachField(message, [&](uint64_t field, std::string_view entry) {
    ++count.fields;
    if (field != outer) return;
    ++count.outer;
    ForEachField(entry, [&](uint64_t part, std::string_view content) {
      ++count.fields;
      if (part != inner) return;
      ++count.inner;
      ForEachField(content,
                   [&](uint64_t, std::string_view) { ++count.fields; });
    });
  });
  return count;
}

}  // namespace trainyard

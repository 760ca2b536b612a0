// Counts the entries of a protobuf message before it is parsed, so that a small
// malicious file cannot become a large object: an empty entry has two bytes in
// a file and a hundred in memory. Free of libtorch.
//
//   const int64_t files = CountOnWire(message, 12, 7).outer;  // of field 12
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_WIRE_COUNT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_WIRE_COUNT_H_

#include <cstdint>
#include <string_view>

namespace trainyard {

struct WireCount {
  // Number of entries of the outer field.
  int64_t outer = 0;
  // Number of entries of the inner field, in all of them.
  int64_t inner = 0;
  // Number of all fields, including those of the inner entries.
  int64_t fields = 0;
};

// Stops at the first byte that is not part of a valid message.
WireCount CountOnWire(std::string_view message, int outer_field,
                      int inner_field);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_WIRE_COUNT_H_

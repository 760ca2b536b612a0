// Counts what is in a protobuf message before it is parsed, so that a small
// file from a stranger cannot become a large object: an empty entry is two
// bytes in a file and a hundred in memory. Free of libtorch.
//
//   CountOnWire(message, 12, 7).outer;  // entries of field 12
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FORMAT_WIRE_COUNT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FORMAT_WIRE_COUNT_H_

#include <cstdint>
#include <string_view>

namespace trainyard {

struct WireCount {
  // Entries of the outer field.
  int64_t outer = 0;
  // Entries of the inner field in all of them.
  int64_t inner = 0;
  // Fields of any number, down to the inner entries' own.
  int64_t fields = 0;
};

// Stops where the bytes are no message.
WireCount CountOnWire(std::string_view message, int outer_field,
                      int inner_field);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FORMAT_WIRE_COUNT_H_

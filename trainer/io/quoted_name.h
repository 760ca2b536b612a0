// QuotedName formats a name from a file for a message: in quotes, at most 100
// bytes of it, and without bytes that could control a terminal. Free of
// libtorch.
//
//   QuotedName("layer\n1");  // "\"layer\\n1\""
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_QUOTED_NAME_H_
#define TRAINYARD_TRAINER_IO_QUOTED_NAME_H_

#include <string>
#include <string_view>

namespace trainyard {

std::string QuotedName(std::string_view name);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_QUOTED_NAME_H_

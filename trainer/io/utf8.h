// Checks UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Free
// of libtorch.
//
//   if (ValidUtf8Prefix(name) != name.size()) return InvalidName(name);
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_UTF8_H_
#define TRAINYARD_TRAINER_IO_UTF8_H_

#include <cstddef>
#include <string_view>

namespace trainyard {

// Returns the length of the longest valid prefix that ends with a complete
// character.
size_t ValidUtf8Prefix(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_UTF8_H_

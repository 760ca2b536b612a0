// Strings of JSON, both ways. Free of libtorch.
//
//   JsonQuoted("say \"ä\"");  // "say \"ä\"", with its quotes
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_JSON_STRING_H_
#define TRAINYARD_TRAINER_IO_JSON_STRING_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard {

// The text between quotes. Only what JSON asks for is escaped, in the spelling
// of Rust's serde_json. REQUIRES: UTF-8.
std::string JsonQuoted(std::string_view text);

// Reads the rest of a string, its opening quote being just before `at`, and
// moves `at` behind its closing quote. If that fails, returns what is wrong (a
// literal) and leaves `at` where; otherwise returns nothing.
// REQUIRES: UTF-8.
std::string_view TakeJsonString(std::string_view text, size_t& at,
                                std::string& value);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_JSON_STRING_H_

// Quotes and parses JSON strings. Free of libtorch.
//
//   const std::string json = JsonQuoted("say \"ä\"");  // with the quotes
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_IO_JSON_STRING_H_
#define TRAINYARD_TRAINER_IO_JSON_STRING_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard {

// Returns the text as a JSON string, in quotes. Escapes only what JSON
// requires, with the same spelling as Rust's serde_json. REQUIRES: `text` is
// UTF-8.
std::string JsonQuoted(std::string_view text);

// Parses a string whose opening quote is just before `at`, and moves `at`
// behind the closing quote. Returns an empty text, or an error (a literal);
// then `at` is the position of the error. REQUIRES: `text` is UTF-8.
std::string_view TakeJsonString(std::string_view text, size_t& at,
                                std::string& value);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_JSON_STRING_H_

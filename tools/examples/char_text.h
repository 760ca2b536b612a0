// Text as a language model reads it: paragraphs of characters, each a row of
// numbers, filled up with kPadding to the length of the longest allowed.
//
//   const CharText text = ReadCharText("/usr/share/common-licenses", 160);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_EXAMPLES_CHAR_TEXT_H_
#define TRAINYARD_TOOLS_EXAMPLES_CHAR_TEXT_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

// Comes before and after each paragraph and in the rows' unused places.
inline constexpr int64_t kPadding = 0;

struct CharText {
  // The characters there are; number i + 1 is the i-th.
  std::string alphabet;
  // One row per paragraph, `length` + 1 wide: a row without its last number is
  // an input, without its first a target.
  at::Tensor train, test;

  int64_t vocabulary() const {
    return static_cast<int64_t>(alphabet.size()) + 1;
  }
  std::string Decode(const std::vector<int64_t>& numbers) const;
};

// Of one file, or of all files of a folder in name order. Longer paragraphs are
// cut; every tenth is kept for the test. Characters that are not in `alphabet`
// are passed over; if it is empty, it is what the text has. Throws
// c10::ValueError if there is nothing to read.
CharText ReadCharText(const std::string& path, int64_t length,
                      const std::string& alphabet = "");

// What stands on a keyboard: for models that read more than one text.
std::string PrintableAscii();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_CHAR_TEXT_H_

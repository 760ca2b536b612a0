// CharText is a text for a character-level language model: one row of numbers
// per paragraph, padded with kPadding to the maximum length.
//
//   const CharText text = ReadCharText(absl::GetFlag(FLAGS_text), length);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_EXAMPLES_CHAR_TEXT_H_
#define TRAINYARD_TOOLS_EXAMPLES_CHAR_TEXT_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

// Stands before and after each paragraph, and fills the rest of a row.
inline constexpr int64_t kPadding = 0;

struct CharText {
  // The known characters; number i + 1 stands for the i-th.
  std::string alphabet;
  // One row of `length` + 1 numbers per paragraph. Without its last number a
  // row is an input; without its first number it is the target.
  at::Tensor train, test;

  int64_t vocabulary() const {
    return static_cast<int64_t>(alphabet.size()) + 1;
  }
  std::string Decode(const std::vector<int64_t>& numbers) const;
};

// Reads one file, or all files of a folder in order of their names. Longer
// paragraphs are split; every tenth paragraph goes to `test`. Characters that
// are not in `alphabet` are skipped; if it is empty, the alphabet is taken from
// the text. Throws c10::ValueError if nothing can be read.
CharText ReadCharText(const std::string& path, int64_t length,
                      const std::string& alphabet = "");

// An alphabet for models that read more than one text.
std::string PrintableAscii();

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_CHAR_TEXT_H_

// AppendNumber writes the shortest text that reads back as the same double.
//
//   std::string text;
//   AppendNumber(text, 0.1);  // "0.1"
//
// Thread-safe.
#ifndef TRAINYARD_TRACKING_SINKS_NUMBER_TEXT_H_
#define TRAINYARD_TRACKING_SINKS_NUMBER_TEXT_H_

#include <charconv>
#include <string>

namespace trainyard {

inline void AppendNumber(std::string& text, double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  text.append(digits, end);
}

inline void AppendTime(std::string& text, double seconds) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), seconds,
                                 std::chars_format::fixed, 3)
                       .ptr;
  text.append(digits, end);
}

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_NUMBER_TEXT_H_

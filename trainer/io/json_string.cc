#include "trainer/io/json_string.h"

#include <charconv>
#include <cstdint>

namespace trainyard {
namespace {

// The letters of short escapes, and their meanings.
constexpr std::string_view kLetters = "\"\\/bfnrt";
constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";

bool MustBeEscaped(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

void AppendUtf8(uint32_t code, std::string& to) {
  const auto tail = [code](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  } else if (code < 0x10000) {
    to += {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  } else {
    to += {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
  }
}

// Parses "\u" and four digits.
bool TakeUnit(std::string_view text, size_t& at, uint32_t& unit) {
  if (text.substr(at, 2) != "\\u") return false;
  const std::string_view digits = text.substr(at + 2, 4);
  const char* const end = digits.data() + digits.size();
  if (digits.size() < 4 ||
      std::from_chars(digits.data(), end, unit, 16).ptr != end) {
    return false;
  }
  at += 6;
  return true;
}

std::string_view TakeEscape(std::string_view text, size_t& at,
                            std::string& value) {
  const size_t known =
      at + 1 < text.size() ? kLetters.find(text[at + 1]) : kLetters.npos;
  if (known != kLetters.npos) {
    value += kMeanings[known];
    at += 2;
    return {};
  }
  const size_t begin = at;
  uint32_t code = 0;
  if (!TakeUnit(text, at, code)) return "an unknown escape in a string";
  if (code >= 0xD800 && code < 0xE000) {
    // A character above U+FFFF has two halves.
    uint32_t second = 0;
    if (code >= 0xDC00 || !TakeUnit(text, at, second) || second < 0xDC00 ||
        second >= 0xE000) {
      at = begin;
      return "half a character in a string";
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
  }
  AppendUtf8(code, value);
  return {};
}

}  // namespace

std::string JsonQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (!MustBeEscaped(c)) {
      quoted += c;
      continue;
    }
    const size_t known = kMeanings.find(c);
    if (known != kMeanings.npos) {
      quoted += {'\\', kLetters[known]};
    } else {
      constexpr std::string_view kHex = "0123456789abcdef";
      quoted += "\\u00";
      quoted += {kHex[static_cast<size_t>(c) >> 4],
                 kHex[static_cast<size_t>(c) & 15]};
    }
  }
  return quoted += '"';
}

std::string_view TakeJsonString(std::string_view text, size_t& at,
                                std::string& value) {
  value.clear();
  while (true) {
    const size_t begin = at;
    while (at < text.size() && !MustBeEscaped(text[at])) ++at;
    value.append(text, begin, at - begin);
    if (at == text.size()) return "a string without end";
    if (text[at] == '"') break;
    if (text[at] != '\\') return "a control character in a string";
    const std::string_view error = TakeEscape(text, at, value);
    if (!error.empty()) return error;
  }
  ++at;
  return {};
}

}  // namespace trainyard

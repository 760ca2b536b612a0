#include "trainer/io/json_string.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

using namespace std::string_literals;  // NOLINT: for strings with a zero byte

TEST(JsonStringTest, EscapesOnlyWhatJsonRequires) {
  EXPECT_EQ(JsonQuoted("\b\f\n\r\t\\/\x7F\x1F\0"s), R"("\b\f\n\r\t\\/)"
                                                    "\x7F"
                                                    R"(\u001f\u0000")");
}

TEST(JsonStringTest, ParseInvertsQuote) {
  std::string all;
  for (char c = 0; c >= 0 && c < 127; ++c) all += c;
  all += "ä€🚂";
  const std::string quoted = JsonQuoted(all) + "rest";
  size_t at = 1;
  std::string value;
  EXPECT_EQ(TakeJsonString(quoted, at, value), "");
  EXPECT_EQ(value, all);
  EXPECT_EQ(quoted.substr(at), "rest");
}

TEST(JsonStringTest, ReadsEveryEscape) {
  const auto read = [](std::string_view text) {
    size_t at = 0;
    std::string value;
    const std::string_view error = TakeJsonString(text, at, value);
    return error.empty() ? value : "error: " + std::string(error);
  };
  EXPECT_EQ(read(R"(\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read(R"(\u0000\u0041\u00e9\u20AC\ud83d\uDE82")"), "\0Aé€🚂"s);
}

struct Case {
  std::string_view text;
  size_t at;
  std::string_view error;
};

TEST(JsonStringTest, ErrorsNameTheProblemAndItsPosition) {
  for (const auto& [text, where, why] : {
           Case{"", 0, "a string without end"},
           Case{"abc", 3, "a string without end"},
           Case{R"(a\)", 1, "an unknown escape in a string"},
           Case{R"(a\x")", 1, "an unknown escape in a string"},
           Case{R"(a\u12")", 1, "an unknown escape in a string"},
           Case{R"(a\u12G4")", 1, "an unknown escape in a string"},
           Case{R"(a\u-123")", 1, "an unknown escape in a string"},
           Case{R"(a\ud800")", 1, "half a character in a string"},
           Case{R"(a\udc00")", 1, "half a character in a string"},
           Case{R"(a\ud800\u0041")", 1, "half a character in a string"},
           Case{R"(a\ud800\ud800")", 1, "half a character in a string"},
           Case{"ab\n\"", 2, "a control character in a string"},
       }) {
    size_t at = 0;
    std::string value;
    EXPECT_EQ(TakeJsonString(text, at, value), why) << text;
    EXPECT_EQ(at, where) << text;
  }
}

}  // namespace
}  // namespace trainyard

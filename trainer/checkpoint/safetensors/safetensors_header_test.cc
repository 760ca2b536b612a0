#include "trainer/checkpoint/safetensors/safetensors_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace trainyard {
namespace {

using Dtype = SafetensorsDtype;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Pair;

constexpr std::string_view kOne =
    R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})";

std::string ErrorOf(std::string_view json, uint64_t data_size = 8) {
  const auto header = ParseSafetensorsHeader(json, data_size);
  if (header.ok()) return "";
  EXPECT_TRUE(absl::IsDataLoss(header.status())) << header.status();
  return std::string(header.status().message());
}

// A header with one tensor "a".
std::string WithEntry(const std::string& entry) {
  return "{\"a\":" + entry + "}";
}

TEST(SafetensorsHeaderTest, ReadsTensorsInTheOrderOfTheirBytes) {
  const auto header = ParseSafetensorsHeader(
      R"({"b":{"shape":[],"data_offsets":[8,10],"dtype":"BF16"},
          "__metadata__":{"format":"pt","\u00e9":""},
          "a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8],
               "more":[{"x":[null,true,-1.5e3]},"y"]}} )",
      10);
  ASSERT_TRUE(header.ok()) << header.status();
  ASSERT_EQ(header->tensors.size(), 2U);
  EXPECT_EQ(header->tensors[0].name, "a");
  EXPECT_EQ(header->tensors[0].dtype, Dtype::kF32);
  EXPECT_THAT(header->tensors[0].shape, ElementsAre(2, 1));
  EXPECT_EQ(header->tensors[1].name, "b");
  EXPECT_EQ(header->tensors[1].begin, 8U);
  EXPECT_EQ(header->tensors[1].end, 10U);
  EXPECT_THAT(header->metadata,
              ElementsAre(Pair("format", "pt"), Pair("é", "")));
}

TEST(SafetensorsHeaderTest, AcceptsWhatRustAccepts) {
  for (
      const std::string_view json :
      {"{}", "{} \n\t\r ", R"({"__metadata__":null})", R"({"__metadata__":{}})",
       R"({"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
       R"({"\u0000\ud83d\ude82":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"}) {
    EXPECT_EQ(ErrorOf(json, 0), "") << json;
  }
}

struct Case {
  std::string json;
  std::string error;
};

TEST(SafetensorsHeaderTest, ErrorsNameTheProblemAndItsPosition) {
  const std::string wide = "[" + std::string(2 * 64, '1') + "]";
  std::string dimensions;
  for (int i = 0; i < 65; ++i) dimensions += i == 0 ? "1" : ",1";
  for (
      const auto& [json, error] : std::vector<Case>{
          {"", "the header does not begin with '{'"},
          {" {}", "the header does not begin with '{'"},
          {"[]", "the header does not begin with '{'"},
          {"{", "header: byte 1: expected a key in quotes"},
          {"{}}", "header: byte 2: unexpected text after the end"},
          {std::string("{}\0", 3),
           "header: byte 2: unexpected text after the end"},
          {"{\"\xff\":{}}", "header: byte 2: not UTF-8"},
          {"{\"a\":1}", "header, \"a\": byte 5: expected an object"},
          {R"({"a":["F32",[2],[0,8]]})",
           "header, \"a\": byte 5: expected an object"},
          {WithEntry(R"({"dtype":"F32","shape":[2]})"),
           "header, \"a\": byte 29: no data_offsets"},
          {WithEntry(R"({"shape":[2],"data_offsets":[0,8]})"),
           "header, \"a\": byte 36: no dtype"},
          {WithEntry(R"({"dtype":"f32"})"),
           "header, \"a\": byte 14: unknown dtype \"f32\""},
          {WithEntry(R"({"dtype":{"F32":null}})"),
           "header, \"a\": byte 14: expected a string"},
          {WithEntry(R"({"dtype":"F32","dtype":"F32"})"),
           "header, \"a\": byte 20: dtype comes twice"},
          {WithEntry(R"({"shape":{}})"),
           "header, \"a\": byte 14: expected an array"},
          {WithEntry(R"({"shape":null})"),
           "header, \"a\": byte 14: expected an array"},
          {WithEntry(R"({"shape":[-1]})"),
           "header, \"a\": byte 15: expected a whole number of at least 0"},
          {WithEntry(R"({"shape":[2.0]})"),
           "header, \"a\": byte 15: expected a whole number of at least 0"},
          {WithEntry(R"({"shape":["2"]})"),
           "header, \"a\": byte 15: expected a number"},
          {WithEntry("{\"shape\":" + wide + "}"),
           "header, \"a\": byte 15: a number of more than 64 bits"},
          {WithEntry("{\"shape\":[" + dimensions + "]}"),
           "header, \"a\": byte 143: more than 64 dimensions"},
          {WithEntry(R"({"data_offsets":[0]})"),
           "header, \"a\": byte 22: less than two data_offsets"},
          {WithEntry(R"({"data_offsets":[0,8,8]})"),
           "header, \"a\": byte 25: more than two data_offsets"},
          {WithEntry(R"({"more":1e999})"),
           "header, \"a\": byte 13: a number that is too large"},
          {R"({"__metadata__":{"a":1}})",
           "header, \"__metadata__\": byte 21: expected a string"},
          {R"({"__metadata__":[]})",
           "header, \"__metadata__\": byte 16: expected an object"},
          {R"({"__metadata__":{"a":"","a":""}})",
           "header, \"__metadata__\": byte 24: key \"a\" comes twice"},
          {R"({"__metadata__":{},"__metadata__":{}})",
           "header, \"__metadata__\": byte 19: __metadata__ comes twice"},
          {std::string(kOne.substr(0, kOne.size() - 1)) + "," +
               std::string(kOne.substr(1)),
           "tensor \"a\" comes twice"},
          {WithEntry(
               R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"),
           "tensor \"a\" has more bits than 64 bits can count"},
          {WithEntry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
           "tensor \"a\" takes 8 bytes, but F32 [3] has 12"},
      }) {
    EXPECT_EQ(ErrorOf(json), error) << json;
  }
  EXPECT_EQ(ErrorOf(kOne, 9),
            "the tensors take 8 bytes, but 9 follow the header");
}

TEST(SafetensorsHeaderTest, RejectsEveryTruncatedHeader) {
  EXPECT_EQ(ErrorOf(kOne), "");
  for (size_t size = 0; size < kOne.size(); ++size) {
    EXPECT_NE(ErrorOf(kOne.substr(0, size)), "") << size;
  }
}

std::string LengthError(std::string_view bytes, uint64_t file_size) {
  const auto length = SafetensorsHeaderLength(bytes, file_size);
  return std::string(length.status().message());
}

TEST(SafetensorsHeaderTest, LimitsTheLength) {
  using namespace std::string_view_literals;  // NOLINT: for zero bytes
  constexpr std::string_view kLimit = "\x00\xe1\xf5\x05\0\0\0\0"sv;
  constexpr std::string_view kOver = "\x01\xe1\xf5\x05\0\0\0\0"sv;
  EXPECT_EQ(*SafetensorsHeaderLength(kLimit, 100000008), 100000000U);
  EXPECT_EQ(LengthError(kLimit, 100000007),
            "cut short: the header has 100000000 bytes, but only 99999999 are "
            "there");
  EXPECT_EQ(LengthError(kOver, UINT64_MAX),
            "not a safetensors file: its header would have 100000001 bytes, "
            "more than 100000000");
  EXPECT_EQ(LengthError("\xff\xff\xff\xff\xff\xff\xff\xff", 100),
            "not a safetensors file: its header would have "
            "18446744073709551615 bytes, more than 100000000");
  EXPECT_EQ(LengthError("1234567", 7),
            "not a safetensors file: it has 7 bytes, less than the 8 of a "
            "header's length");
}

TEST(SafetensorsHeaderTest, FormatInvertsParse) {
  SafetensorsHeader header{{{"w\"\n", Dtype::kI64, {2, 3}},
                            {"ä", Dtype::kF8E4M3, {0}},
                            {"", Dtype::kF4, {2}}},
                           {{"format", "pt"}, {"\x01", "\\"}}};
  ASSERT_TRUE(LayOutTensors(header).ok());
  const auto bytes = FormatSafetensorsHeader(header);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->size() % 8, 0U);
  EXPECT_EQ(bytes->substr(8),
            R"({"__metadata__":{"\u0001":"\\","format":"pt"},)"
            R"("w\"\n":{"dtype":"I64","shape":[2,3],"data_offsets":[0,48]},)"
            R"("ä":{"dtype":"F8_E4M3","shape":[0],"data_offsets":[48,48]},)"
            R"("":{"dtype":"F4","shape":[2],"data_offsets":[48,49]}}     )");
  const auto length = SafetensorsHeaderLength(*bytes, bytes->size() + 49);
  ASSERT_EQ(*length, bytes->size() - 8);
  const auto again = ParseSafetensorsHeader(bytes->substr(8), 49);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->metadata, header.metadata);
  EXPECT_EQ(again->data_begin, bytes->size());
  EXPECT_EQ(*FormatSafetensorsHeader(*again), *bytes);
}

TEST(SafetensorsHeaderTest, RejectsHeadersThatNobodyCouldRead) {
  const auto error = [](const SafetensorsHeader& header) {
    const auto bytes = FormatSafetensorsHeader(header);
    EXPECT_TRUE(absl::IsInvalidArgument(bytes.status())) << bytes.status();
    return std::string(bytes.status().message());
  };
  EXPECT_EQ(error({{{"__metadata__", Dtype::kU8, {0}}}}),
            "no tensor can be \"__metadata__\"");
  EXPECT_EQ(error({{{"\xff", Dtype::kU8, {0}}}}), "\"\\xff\" is not UTF-8");
  EXPECT_EQ(error({{}, {{"a", "\xff"}}}), "\"\\xff\" is not UTF-8");
  EXPECT_EQ(error({{}, {{"a", std::string(100000000, 'x')}}}),
            "the header would have 100000032 bytes, more than 100000000");
}

TEST(SafetensorsHeaderTest, ErrorsNameTheFile) {
  const std::string path = ::testing::TempDir() + "/bad.safetensors";
  std::ofstream(path) << std::string("\x02\0\0\0\0\0\0\0{}x", 11);
  const auto file = InputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto header = ReadSafetensorsHeader(*file);
  EXPECT_THAT(
      std::string(header.status().message()),
      EndsWith("bad.safetensors: the tensors take 0 bytes, but 1 follow "
               "the header"));
}

}  // namespace
}  // namespace trainyard

// Randomly damaged headers: each is rejected with a reason, or is valid and
// survives being written and read again.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/checkpoint/safetensors/safetensors_header.h"

namespace trainyard {
namespace {

struct Seed {
  std::string_view json;
  uint64_t data_size;
};

constexpr Seed kSeeds[] = {
    {R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", 8},
    {R"({"__metadata__":{"format":"pt","k\u00e9\n":"\ud83d\ude82"},)"
     R"("b":{"shape":[],"data_offsets":[8,10],"dtype":"BF16","x":[1,{"y":2e1}]},)"
     R"("a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
     R"("c":{"dtype":"F4","shape":[3,0],"data_offsets":[10,10]}} )",
     10},
    {R"({"":{"dtype":"BOOL","shape":[1,1,1],"data_offsets":[0,1]},)"
     R"("a/b":{"dtype":"U8","shape":[0,9],"data_offsets":[1,1]}})",
     1},
};

constexpr std::string_view kPieces[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\ud800",
    "\\u00",
    "null",
    "true",
    "0",
    "-",
    "1e9",
    "1e999",
    "[0,0]",
    "\"a\":",
    " ",
    "\xff",
    "\xc3",
    "\"dtype\"",
    "[[[[",
    "{}",
    "18446744073709551615",
    "\"__metadata__\":",
    "\"F32\"",
};

std::string Mutate(std::string text, std::mt19937& random) {
  const size_t times = 1 + random() % 3;
  for (size_t i = 0; i < times; ++i) {
    const size_t at = random() % (text.size() + 1);
    const size_t length = random() % 8;
    switch (random() % 5) {
      case 0:
        text.insert(at, kPieces[random() % std::size(kPieces)]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(random() % (text.size() + 1), text.substr(at, 4 * length));
        break;
      case 3:
        if (at < text.size()) text[at] ^= static_cast<char>(1 << random() % 8);
        break;
      default:
        text.replace(at, length, kPieces[random() % std::size(kPieces)]);
    }
  }
  return text;
}

std::vector<SafetensorsEntry> ByName(std::vector<SafetensorsEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

// Writes the header again, which may move tensors, and reads it back.
void ExpectSurvives(const SafetensorsHeader& header, uint64_t data_size) {
  SafetensorsHeader laid_out = header;
  ASSERT_TRUE(LayOutTensors(laid_out).ok());
  const auto bytes = FormatSafetensorsHeader(laid_out);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto again = ParseSafetensorsHeader(bytes->substr(8), data_size);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->metadata, header.metadata);
  const auto before = ByName(header.tensors);
  const auto after = ByName(again->tensors);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].name, after[i].name);
    EXPECT_EQ(before[i].dtype, after[i].dtype);
    EXPECT_EQ(before[i].shape, after[i].shape);
    EXPECT_EQ(before[i].size(), after[i].size());
  }
}

TEST(SafetensorsMutationTest, DamageIsRefusedOrHarmless) {
  std::mt19937 random(1);
  int sound = 0;
  int refused = 0;
  for (const Seed& seed : kSeeds) {
    for (int i = 0; i < 20000; ++i) {
      const std::string json = Mutate(std::string(seed.json), random);
      const auto header = ParseSafetensorsHeader(json, seed.data_size);
      if (header.ok()) {
        ++sound;
        ASSERT_NO_FATAL_FAILURE(ExpectSurvives(*header, seed.data_size))
            << json;
      } else {
        ++refused;
        ASSERT_TRUE(absl::IsDataLoss(header.status())) << json;
        ASSERT_FALSE(header.status().message().empty()) << json;
      }
    }
  }
  // Both cases must occur often.
  EXPECT_GT(sound, 1000);
  EXPECT_GT(refused, 30000);
}

}  // namespace
}  // namespace trainyard

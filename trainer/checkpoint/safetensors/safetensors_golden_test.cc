// Files written by Python's safetensors library; see
// tools/convert/safetensors_golden.py.
#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "trainer/checkpoint/safetensors/safetensors.h"

namespace trainyard {
namespace {

constexpr char kFolder[] = "trainer/checkpoint/safetensors/testdata/";

std::string Content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool FollowsTheRule(const at::Tensor& tensor) {
  const auto* const bytes =
      static_cast<const uint8_t*>(tensor.const_data_ptr());
  for (size_t i = 0; i < tensor.nbytes(); ++i) {
    if (bytes[i] != static_cast<uint8_t>(7 * i + 3)) return false;
  }
  return true;
}

TEST(SafetensorsGoldenTest, ReadsEveryTypeOfPython) {
  const auto file = ReadSafetensors(kFolder + std::string("types.safetensors"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata,
            (std::map<std::string, std::string>{{"format", "pt"}}));
  const std::map<std::string, at::ScalarType> types = {
      {"uint8", at::kByte},
      {"int8", at::kChar},
      {"int16", at::kShort},
      {"int32", at::kInt},
      {"int64", at::kLong},
      {"uint16", at::kUInt16},
      {"uint32", at::kUInt32},
      {"uint64", at::kUInt64},
      {"float16", at::kHalf},
      {"bfloat16", at::kBFloat16},
      {"float32", at::kFloat},
      {"float64", at::kDouble},
      {"complex64", at::kComplexFloat},
      {"float8_e4m3fn", at::kFloat8_e4m3fn},
      {"float8_e5m2", at::kFloat8_e5m2},
      {"float8_e4m3fnuz", at::kFloat8_e4m3fnuz},
      {"float8_e5m2fnuz", at::kFloat8_e5m2fnuz},
      {"float8_e8m0fnu", at::kFloat8_e8m0fnu},
      {"float4_e2m1fn_x2", at::kFloat4_e2m1fn_x2},
  };
  size_t typed = 0;
  size_t others = 0;
  for (const auto& [name, tensor] : file->tensors) {
    const auto type = types.find(name);
    if (type != types.end()) {
      EXPECT_EQ(tensor.scalar_type(), type->second) << name;
      EXPECT_EQ(tensor.sizes(), at::IntArrayRef({2, 64})) << name;
      EXPECT_TRUE(FollowsTheRule(tensor)) << name;
      ++typed;
    } else if (name == "bool") {
      EXPECT_EQ(tensor.scalar_type(), at::kBool);
      EXPECT_TRUE(tensor[0].item<bool>());
      EXPECT_FALSE(tensor[1].item<bool>());
      EXPECT_TRUE(tensor[2].item<bool>());
      ++others;
    } else if (name == "nothing") {
      EXPECT_EQ(tensor.sizes(), at::IntArrayRef({3, 0, 2}));
      ++others;
    } else if (name == "scalar") {
      EXPECT_EQ(tensor.dim(), 0);
      EXPECT_TRUE(FollowsTheRule(tensor));
      ++others;
    } else {
      EXPECT_EQ(name, "name \"with\"\n\\ ä€🚂\x01");
      EXPECT_EQ(tensor.sizes(), at::IntArrayRef({1, 2, 3}));
      EXPECT_TRUE(FollowsTheRule(tensor));
      ++others;
    }
  }
  EXPECT_EQ(typed, types.size());
  EXPECT_EQ(others, 4U);
}

// Python can read our files, because they are the same as its own.
TEST(SafetensorsGoldenTest, WritesTheSameBytesAsPython) {
  for (const std::string name : {"types.safetensors", "empty.safetensors"}) {
    const auto file = ReadSafetensors(kFolder + name);
    ASSERT_TRUE(file.ok()) << file.status();
    const std::string copy = ::testing::TempDir() + "/" + name;
    const absl::Status written =
        WriteSafetensors(copy, file->tensors, file->metadata);
    ASSERT_TRUE(written.ok()) << written;
    EXPECT_TRUE(Content(copy) == Content(kFolder + name)) << name;
  }
}

}  // namespace
}  // namespace trainyard

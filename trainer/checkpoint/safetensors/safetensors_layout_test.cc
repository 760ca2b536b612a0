#include "trainer/checkpoint/safetensors/safetensors_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using Dtype = SafetensorsDtype;
using ::testing::ElementsAre;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

std::vector<std::string> Names(const SafetensorsHeader& header) {
  std::vector<std::string> names;
  for (const auto& tensor : header.tensors) names.push_back(tensor.name);
  return names;
}

std::string CheckError(std::vector<SafetensorsEntry> tensors, uint64_t size) {
  SafetensorsHeader header{std::move(tensors)};
  const absl::Status status = CheckLayout(header, size);
  EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
  return Message(status);
}

TEST(SafetensorsLayoutTest, WideElementsComeFirstThenNames) {
  SafetensorsHeader header{{{"z", Dtype::kU8, {1}},
                            {"b", Dtype::kF32, {3}},
                            {"a", Dtype::kF32, {}},
                            {"none", Dtype::kF16, {0, 7}},
                            {"y", Dtype::kI64, {2}}}};
  ASSERT_TRUE(LayOutTensors(header).ok());
  EXPECT_THAT(Names(header), ElementsAre("y", "a", "b", "none", "z"));
  EXPECT_EQ(header.tensors[2].begin, 20U);
  EXPECT_EQ(header.tensors[3].size(), 0U);
  EXPECT_TRUE(CheckLayout(header, 33).ok());
  EXPECT_THAT(Names(header), ElementsAre("y", "a", "b", "none", "z"));
}

TEST(SafetensorsLayoutTest, RejectsInvalidTensors) {
  SafetensorsHeader twice{{{"a", Dtype::kU8, {1}}, {"a", Dtype::kF32, {3}}}};
  EXPECT_EQ(Message(LayOutTensors(twice)), "tensor \"a\" comes twice");
  SafetensorsHeader half{{{"a", Dtype::kF4, {3}}}};
  EXPECT_EQ(Message(LayOutTensors(half)), "tensor \"a\" ends within a byte");
  SafetensorsHeader large{{{"a", Dtype::kF64, {1U << 31, 1U << 31}}}};
  EXPECT_EQ(Message(LayOutTensors(large)),
            "tensor \"a\" has more bits than 64 bits can count");
}

TEST(SafetensorsLayoutTest, CountsBytes) {
  const auto size = [](Dtype dtype, std::vector<uint64_t> shape) {
    return SafetensorsByteSize(dtype, shape).value_or(UINT64_MAX);
  };
  EXPECT_EQ(size(Dtype::kF64, {}), 8U);
  EXPECT_EQ(size(Dtype::kF64, {3, 0, 5}), 0U);
  EXPECT_EQ(size(Dtype::kF4, {3, 2}), 3U);
  EXPECT_EQ(size(Dtype::kF6E2M3, {4}), 3U);
  EXPECT_EQ(size(Dtype::kF6E2M3, {2}), UINT64_MAX);
  EXPECT_EQ(size(Dtype::kU8, {UINT64_MAX / 8}), UINT64_MAX / 8);
  EXPECT_EQ(size(Dtype::kU8, {UINT64_MAX / 8 + 1}), UINT64_MAX);
  // Multiplies in the order of the shape, like Rust's reader.
  EXPECT_EQ(size(Dtype::kU8, {0, UINT64_MAX, 2}), 0U);
  EXPECT_EQ(size(Dtype::kU8, {UINT64_MAX, 2, 0}), UINT64_MAX);
}

TEST(SafetensorsLayoutTest, TensorsMustCoverTheDataExactly) {
  EXPECT_EQ(CheckError({}, 0), "");
  EXPECT_EQ(CheckError({}, 1),
            "the tensors take 0 bytes, but 1 follow the header");
  EXPECT_EQ(
      CheckError({{"a", Dtype::kF32, {1}, 4, 8}, {"b", Dtype::kU8, {4}, 0, 4}},
                 8),
      "");
  EXPECT_EQ(CheckError({{"a", Dtype::kF32, {1}, 0, 4}}, 5),
            "the tensors take 4 bytes, but 5 follow the header");
  EXPECT_EQ(CheckError({{"a", Dtype::kF32, {1}, 1, 5}}, 5),
            "tensor \"a\" takes bytes 1 to 5 where one that begins at 0 must "
            "follow");
  EXPECT_EQ(
      CheckError({{"a", Dtype::kU8, {4}, 0, 4}, {"b", Dtype::kU8, {4}, 2, 6}},
                 6),
      "tensor \"b\" takes bytes 2 to 6 where one that begins at 4 must "
      "follow");
  EXPECT_EQ(
      CheckError({{"a", Dtype::kU8, {4}, 0, 4}, {"b", Dtype::kU8, {4}, 0, 4}},
                 4),
      "tensor \"b\" takes bytes 0 to 4 where one that begins at 4 must "
      "follow");
  EXPECT_EQ(
      CheckError({{"a", Dtype::kU8, {4}, 0, 0}, {"b", Dtype::kU8, {4}, 4, 0}},
                 4),
      "tensor \"a\" takes 0 bytes, but U8 [4] has 4");
  EXPECT_EQ(
      CheckError({{"a", Dtype::kU8, {4}, 0, 4}, {"b", Dtype::kU8, {4}, 4, 0}},
                 4),
      "tensor \"b\" takes bytes 4 to 0 where one that begins at 4 must "
      "follow");
  EXPECT_EQ(CheckError({{"a", Dtype::kF16, {2, 3}, 0, 10}}, 10),
            "tensor \"a\" takes 10 bytes, but F16 [2, 3] has 12");
  EXPECT_EQ(CheckError({{"a", Dtype::kF4, {1}, 0, 1}}, 1),
            "tensor \"a\" ends within a byte");
}

}  // namespace
}  // namespace trainyard

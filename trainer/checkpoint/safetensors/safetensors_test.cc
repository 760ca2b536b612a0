#include "trainer/checkpoint/safetensors/safetensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string PathOf(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

std::string Content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void SetContent(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// A file with this header and data.
std::string FileOf(std::string_view json, std::string_view data) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(json.size());
  bytes[1] = static_cast<char>(json.size() >> 8);
  return bytes.append(json).append(data);
}

std::string ReadError(const std::string& bytes) {
  const std::string path = PathOf("read_error.safetensors");
  SetContent(path, bytes);
  const auto read = ReadSafetensors(path);
  if (read.ok()) return "";
  EXPECT_THAT(std::string(read.status().message()),
              HasSubstr("read_error.safetensors: "));
  return std::string(read.status().message());
}

std::string WriteError(const std::vector<NamedTensor>& tensors) {
  const std::string path = PathOf("write_error.safetensors");
  const absl::Status status = WriteSafetensors(path, tensors);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_FALSE(std::filesystem::exists(path));
  return std::string(status.message());
}

TEST(SafetensorsTest, HeaderExample) {
  const std::string path = PathOf("model.safetensors");
  const at::Tensor weight = at::randn({3, 4});
  const absl::Status written = WriteSafetensors(path, {{"w", weight}});
  ASSERT_TRUE(written.ok()) << written;
  const absl::StatusOr<Safetensors> read = ReadSafetensors(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->tensors[0].name, "w");
  EXPECT_TRUE(at::equal(read->tensors[0].tensor, weight));
}

TEST(SafetensorsTest, EveryTypeComesBackBitForBit) {
  std::vector<NamedTensor> tensors;
  for (const at::ScalarType type :
       {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
        at::kBFloat16, at::kFloat, at::kDouble, at::kUInt16, at::kUInt32,
        at::kUInt64, at::kComplexFloat, at::kFloat8_e4m3fn, at::kFloat8_e5m2,
        at::kFloat8_e4m3fnuz, at::kFloat8_e5m2fnuz, at::kFloat8_e8m0fnu,
        at::kFloat4_e2m1fn_x2}) {
    // All byte values, hence also every kind of NaN.
    const at::Tensor tensor = at::empty({2, 128}, at::TensorOptions(type));
    auto* const bytes = static_cast<uint8_t*>(tensor.mutable_data_ptr());
    for (size_t i = 0; i < tensor.nbytes(); ++i) {
      bytes[i] = static_cast<uint8_t>(7 * i + 3);
    }
    tensors.push_back({c10::toString(type), tensor});
  }
  tensors.push_back({"Bool", at::tensor({1, 0, 1}).to(at::kBool)});
  const std::string path = PathOf("types.safetensors");
  const absl::Status written = WriteSafetensors(path, tensors);
  ASSERT_TRUE(written.ok()) << written;
  const absl::StatusOr<Safetensors> read = ReadSafetensors(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->tensors.size(), tensors.size());
  for (const NamedTensor& wanted : tensors) {
    const auto found = std::find_if(read->tensors.begin(), read->tensors.end(),
                                    [&wanted](const NamedTensor& item) {
                                      return item.name == wanted.name;
                                    });
    ASSERT_NE(found, read->tensors.end()) << wanted.name;
    EXPECT_EQ(found->tensor.scalar_type(), wanted.tensor.scalar_type());
    ASSERT_EQ(found->tensor.sizes(), wanted.tensor.sizes()) << wanted.name;
    EXPECT_EQ(
        std::memcmp(found->tensor.const_data_ptr(),
                    wanted.tensor.const_data_ptr(), wanted.tensor.nbytes()),
        0)
        << wanted.name;
  }
}

TEST(SafetensorsTest, KeepsShapesNamesAndMetadata) {
  const std::string path = PathOf("shapes.safetensors");
  const at::Tensor numbers = at::arange(6, at::kFloat).view({2, 3});
  ASSERT_TRUE(WriteSafetensors(path,
                               {{"turned", numbers.t()},
                                {"scalar", at::ones({}).requires_grad_()},
                                {"", at::zeros({3, 0, 2})},
                                {"ä/\"\n", numbers.slice(1, 0, 3, 2)},
                                {"conj", at::ones({2}, at::kComplexFloat)
                                             .mul(c10::complex<float>(1, 2))
                                             .conj()}},
                               {{"format", "pt"}, {"step", "7"}})
                  .ok());
  const absl::StatusOr<Safetensors> read = ReadSafetensors(path);
  ASSERT_TRUE(read.ok()) << read.status();
  const std::vector<NamedTensor>& tensors = read->tensors;
  ASSERT_EQ(tensors.size(), 5U);
  EXPECT_EQ(tensors[0].name, "");
  EXPECT_EQ(tensors[0].tensor.sizes(), at::IntArrayRef({3, 0, 2}));
  EXPECT_EQ(tensors[1].name, "conj");
  EXPECT_EQ(tensors[1].tensor[0].item<c10::complex<float>>(),
            c10::complex<float>(1, -2));
  EXPECT_EQ(tensors[2].name, "scalar");
  EXPECT_EQ(tensors[2].tensor.dim(), 0);
  EXPECT_FALSE(tensors[2].tensor.requires_grad());
  EXPECT_TRUE(at::equal(tensors[3].tensor, numbers.t()));
  EXPECT_EQ(tensors[4].name, "ä/\"\n");
  EXPECT_TRUE(at::equal(tensors[4].tensor, numbers.slice(1, 0, 3, 2)));
  EXPECT_THAT(read->metadata,
              ElementsAre(Pair("format", "pt"), Pair("step", "7")));
}

TEST(SafetensorsTest, AnEmptyFileOfTensorsIsOne) {
  const std::string path = PathOf("empty.safetensors");
  ASSERT_TRUE(WriteSafetensors(path, {}).ok());
  EXPECT_EQ(Content(path), FileOf("{}      ", ""));
  EXPECT_TRUE(ReadSafetensors(path)->tensors.empty());
}

TEST(SafetensorsTest, EveryTruncationAndAddedByteIsRefused) {
  const std::string path = PathOf("whole.safetensors");
  ASSERT_TRUE(
      WriteSafetensors(path, {{"a", at::randn({5})}, {"b", at::arange(3)}})
          .ok());
  const std::string whole = Content(path);
  EXPECT_EQ(ReadError(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(ReadError(whole.substr(0, size)), "") << size;
  }
  EXPECT_THAT(ReadError(whole + '\0'), HasSubstr("follow the header"));
}

TEST(SafetensorsTest, RefusesWhatLibtorchCannotHold) {
  EXPECT_THAT(
      ReadError(FileOf(R"({"a":{"dtype":"F6_E2M3","shape":[4],)"
                       R"("data_offsets":[0,3]}})",
                       "abc")),
      HasSubstr(R"(tensor "a" is of type F6_E2M3, which libtorch has not)"));
  EXPECT_THAT(ReadError(FileOf(R"({"a":{"dtype":"F4","shape":[2,1],)"
                               R"("data_offsets":[0,1]}})",
                               "a")),
              HasSubstr("libtorch has only in pairs along the last dimension"));
  EXPECT_THAT(
      ReadError(FileOf(R"({"a":{"dtype":"U8","shape":[0,9223372036854775808],)"
                       R"("data_offsets":[0,0]}})",
                       "")),
      HasSubstr("has a dimension of 9223372036854775808, more than libtorch"));
  EXPECT_THAT(ReadError(FileOf(R"({"a":{"dtype":"BOOL","shape":[2],)"
                               R"("data_offsets":[0,2]}})",
                               "\x01\x02")),
              HasSubstr(R"(tensor "a" is of type BOOL and not all 0 and 1)"));
}

TEST(SafetensorsTest, RefusesToWriteWhatTheFormatLacks) {
  EXPECT_THAT(WriteError({{"a", at::Tensor()}}),
              HasSubstr("write_error.safetensors: tensor \"a\" is undefined"));
  EXPECT_THAT(WriteError({{"a", at::zeros({2}, at::kComplexDouble)}}),
              HasSubstr("is of type ComplexDouble, which the format has not"));
  EXPECT_THAT(WriteError({{"a", at::ones({2, 2}).to_sparse()}}),
              HasSubstr("is sparse or has no data"));
  EXPECT_THAT(WriteError({{"a", at::ones({1})}, {"a", at::ones({1})}}),
              HasSubstr("tensor \"a\" comes twice"));
}

TEST(SafetensorsTest, AFailedWriteLeavesTheOldFile) {
  const std::string path = PathOf("old.safetensors");
  ASSERT_TRUE(WriteSafetensors(path, {{"a", at::ones({2})}}).ok());
  const std::string old = Content(path);
  EXPECT_FALSE(WriteSafetensors(path, {{"a", at::Tensor()}}).ok());
  EXPECT_EQ(Content(path), old);
  EXPECT_TRUE(absl::IsNotFound(
      WriteSafetensors(PathOf("no/folder"), {{"a", at::ones({2})}})));
  EXPECT_TRUE(absl::IsNotFound(ReadSafetensors(PathOf("none")).status()));
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/idx_files.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes.push_back(static_cast<char>(value));
  return bytes;
}

absl::StatusOr<at::Tensor> Read(const std::string& content) {
  const std::string path = ::testing::TempDir() + "/idx_files_test.idx";
  std::ofstream(path, std::ios::binary) << content;
  return ReadIdxFile(path);
}

void ExpectError(const std::string& content, absl::StatusCode code,
                 const std::string& message) {
  const auto tensor = Read(content);
  EXPECT_EQ(tensor.status().code(), code) << tensor.status();
  EXPECT_THAT(std::string(tensor.status().message()), HasSubstr(message));
}

TEST(ReadIdxFileTest, ReadsBytesWithTheirShape) {
  const auto tensor =
      Read(Bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255}));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_TRUE(at::equal(
      *tensor, at::tensor({1, 2, 3, 4, 5, 255}, at::kByte).view({2, 3})));
}

TEST(ReadIdxFileTest, SwapsWiderTypes) {
  EXPECT_TRUE(
      at::equal(*Read(Bytes({0, 0, 0x0B, 1, 0, 0, 0, 2, 1, 0, 0xFF, 0xFE})),
                at::tensor({256, -2}, at::kShort)));
  EXPECT_TRUE(at::equal(*Read(Bytes({0, 0, 0x0C, 1, 0, 0, 0, 1, 0, 1, 0, 0})),
                        at::tensor({65536}, at::kInt)));
  EXPECT_TRUE(
      at::equal(*Read(Bytes({0, 0, 0x0D, 1, 0, 0, 0, 1, 0x3F, 0xC0, 0, 0})),
                at::tensor({1.5}, at::kFloat)));
  EXPECT_TRUE(at::equal(
      *Read(Bytes({0, 0, 0x0E, 1, 0, 0, 0, 1, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0})),
      at::tensor({1.5}, at::kDouble)));
  EXPECT_TRUE(at::equal(*Read(Bytes({0, 0, 0x09, 1, 0, 0, 0, 1, 0xFF})),
                        at::tensor({-1}, at::kChar)));
}

TEST(ReadIdxFileTest, ReadsFashionMnist) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  const auto images = ReadIdxFile(folder + "t10k-images-idx3-ubyte.gz");
  const auto labels = ReadIdxFile(folder + "t10k-labels-idx1-ubyte.gz");
  ASSERT_TRUE(images.ok()) << images.status();
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(images->sizes(), at::IntArrayRef({10000, 28, 28}));
  EXPECT_EQ(labels->sizes(), at::IntArrayRef({10000}));
  EXPECT_EQ(images->max().item<int>(), 255);
  // Ten classes of a thousand each.
  EXPECT_TRUE(at::equal(labels->bincount(),
                        at::tensor(std::vector<int64_t>(10, 1000))));
}

TEST(ReadIdxFileTest, ErrorNamesTheProblem) {
  using enum absl::StatusCode;
  ExpectError("", kDataLoss, "header is truncated");
  ExpectError(Bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0}), kDataLoss,
              "header is truncated");
  ExpectError("PNG, really", kInvalidArgument,
              "is not an IDX file (it begins with 0x504e472c)");
  ExpectError(Bytes({0, 0, 7, 1, 0, 0, 0, 1, 1}), kInvalidArgument,
              "is not an IDX file");
  ExpectError(Bytes({0, 0, 8, 0}), kInvalidArgument, "is not an IDX file");
  ExpectError(Bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3}), kDataLoss,
              "holds 3 bytes of data, but its header (2 x 3) needs 6");
  ExpectError(Bytes({0, 0, 8, 1, 0, 0, 0, 1, 1, 2}), kDataLoss,
              "holds 2 bytes of data, but its header (1) needs 1");
}

TEST(ReadIdxFileTest, RejectsSizesThatOverflow) {
  ExpectError(Bytes({0, 0, 8, 3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                     0, 0, 0, 16, 1}),
              absl::StatusCode::kDataLoss,
              "the sizes in the IDX header overflow");
}

TEST(ReadIdxFileTest, NamesTheMissingFile) {
  const auto tensor = ReadIdxFile("/no/such/file");
  EXPECT_EQ(tensor.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(tensor.status().message()),
              HasSubstr("/no/such/file"));
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/datasets/token_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "trainer/data/batch.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string Path() { return ::testing::TempDir() + "/tokens"; }

std::string Tokens(int64_t count, at::ScalarType type) {
  EXPECT_TRUE(WriteTokenFile(Path(), at::arange(count), type).ok());
  return Path();
}

TEST(TokenFileTest, SamplesAreWindowsAndTheirSuccessors) {
  for (const at::ScalarType type :
       {at::kByte, at::kUInt16, at::kInt, at::kLong}) {
    const absl::StatusOr<DatasetPtr> data =
        OpenTokenFile(Tokens(13, type), {.type = type, .length = 4});
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ((*data)->size(), 3);  // 0-4, 4-8, 8-12
    const AnyBatch batch = (*data)->Gather(at::tensor({2, 0}, at::kLong));
    const Example& windows = batch.As<Example>();
    const at::Tensor want =
        at::tensor({8, 9, 10, 11, 0, 1, 2, 3}, at::kLong).view({2, 4});
    EXPECT_TRUE(at::equal(windows.input, want));
    EXPECT_TRUE(at::equal(windows.target, want.add(1)));
  }
}

TEST(TokenFileTest, WindowsMayOverlap) {
  const DatasetPtr data =
      OpenTokenFile(Tokens(7, at::kUInt16), {.length = 4, .stride = 1}).value();
  EXPECT_EQ(data->size(), 3);
  EXPECT_TRUE(at::equal(data->Gather(at::arange(3)).As<Example>().input[2],
                        at::arange(2, 6)));
  EXPECT_THROW(data->Gather(at::arange(4)), c10::IndexError);
}

TEST(TokenFileTest, TokensKeepTheirSign) {
  // Above 32767, where a signed type of two bytes would turn over.
  ASSERT_TRUE(
      WriteTokenFile(Path(), at::arange(65530, 65536), at::kUInt16).ok());
  const DatasetPtr data = OpenTokenFile(Path(), {.length = 5}).value();
  EXPECT_TRUE(at::equal(data->Gather(at::arange(1)).As<Example>().target[0],
                        at::arange(65531, 65536)));
}

TEST(TokenFileTest, ErrorNamesTheFileAndTheProblem) {
  const auto error = [](const std::string& path) {
    return std::string(OpenTokenFile(path, {.length = 4}).status().message());
  };
  EXPECT_THAT(error(Tokens(4, at::kUInt16)),
              HasSubstr("holds 4 tokens; one sample needs 5"));
  std::ofstream(Path(), std::ios::binary) << "odd";
  EXPECT_THAT(error(Path()),
              HasSubstr("3 bytes, which is not a multiple of the 2 bytes"));
  EXPECT_THAT(error("/nowhere"), HasSubstr("/nowhere: cannot be opened"));
  EXPECT_EQ(WriteTokenFile(Path(), at::arange(300), at::kByte).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(WriteTokenFile("/nowhere/x", at::arange(3), at::kByte).ok());
}

TEST(TokenFileTest, RejectsBadOptions) {
  const std::string path = Tokens(9, at::kUInt16);
  EXPECT_THROW((void)OpenTokenFile(path, {.type = at::kFloat}),
               c10::ValueError);
  EXPECT_THROW((void)OpenTokenFile(path, {.length = 0}), c10::ValueError);
  EXPECT_THROW((void)OpenTokenFile(path, {.stride = 0}), c10::ValueError);
}

TEST(TextTokensTest, AreTheBytes) {
  std::ofstream(Path(), std::ios::binary) << "ab\xFF";
  EXPECT_TRUE(at::equal(TextTokens(Path()).value(),
                        at::tensor({97, 98, 255}, at::kLong)));
  EXPECT_FALSE(TextTokens("/nowhere").ok());
}

}  // namespace
}  // namespace trainyard

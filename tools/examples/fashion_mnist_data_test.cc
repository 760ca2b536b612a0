#include "tools/examples/fashion_mnist_data.h"

#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trainer/data/batch.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string Message(const std::string& folder) {
  return std::string(LoadFashionMnist(folder).status().message());
}

// A copy of the real folder that a test may damage.
std::string Copy(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/fashion_mnist_" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::copy(kFashionMnistFolder, folder);
  return folder;
}

TEST(LoadFashionMnistTest, ReturnsNormalisedImages) {
  const auto data = LoadFashionMnist(kFashionMnistFolder);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train->size(), 60000);
  EXPECT_EQ(data->test->size(), 10000);
  const AnyBatch batch = data->train->Gather(at::arange(60000));
  const Example& all = batch.As<Example>();
  EXPECT_EQ(all.input.sizes(), at::IntArrayRef({60000, 1, 28, 28}));
  EXPECT_NEAR(all.input.mean().item<double>(), 0, 1e-3);
  EXPECT_NEAR(all.input.std().item<double>(), 1, 1e-3);
  EXPECT_EQ(all.target.max().item<int64_t>(), 9);
}

TEST(LoadFashionMnistTest, NamesAMissingFolder) {
  EXPECT_THAT(Message("/no/such/folder"),
              HasSubstr("/no/such/folder: there is no such folder"));
}

TEST(LoadFashionMnistTest, NamesAMissingFile) {
  const std::string folder = Copy("missing");
  std::filesystem::remove(folder + "/t10k-labels-idx1-ubyte.gz");
  EXPECT_THAT(
      Message(folder),
      HasSubstr(folder + "/t10k-labels-idx1-ubyte.gz: cannot be opened"));
}

TEST(LoadFashionMnistTest, NamesATruncatedFile) {
  const std::string folder = Copy("truncated");
  std::filesystem::resize_file(folder + "/train-images-idx3-ubyte.gz", 1000000);
  EXPECT_THAT(
      Message(folder),
      HasSubstr("train-images-idx3-ubyte.gz: the gzip file is cut short"));
}

TEST(LoadFashionMnistTest, RejectsLabelsOfAnotherSet) {
  const std::string folder = Copy("mixed");
  std::filesystem::copy(folder + "/t10k-labels-idx1-ubyte.gz",
                        folder + "/train-labels-idx1-ubyte.gz",
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(Message(folder),
              HasSubstr("holds 10000 labels for 60000 images"));
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/images/image_folder.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <absl/status/status.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "trainer/data/batch.h"
#include "trainer/data/loader.h"
#include "trainer/data/sample_error.h"
#include "trainer/data/sampler.h"
#include "trainer/data/testing/test_images.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ImageFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    Write("cat/b.png", EncodePngForTest(PlainImage(4, 6, {10, 20, 30})));
    Write("cat/a.JPG", EncodeJpegForTest(PlainImage(4, 6, {40, 40, 40})));
    Write("dog/deep/c.png", EncodePngForTest(PlainImage(4, 6, {50, 60, 70})));
    Write("dog/notes.txt", "not an image");
    std::filesystem::create_directories(root_ + "/empty");
  }
  void Write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = root_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  const std::string root_ = ::testing::TempDir() + "/images";
};

TEST_F(ImageFolderTest, FoldersAreClasses) {
  const absl::StatusOr<ImageFolder> folder = OpenImageFolder(root_, {});
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_THAT(folder->classes, ElementsAre("cat", "dog", "empty"));
  EXPECT_THAT(folder->files,
              ElementsAre(EndsWith("cat/a.JPG"), EndsWith("cat/b.png"),
                          EndsWith("dog/deep/c.png")));
  const AnyBatch batch = folder->data->Gather(at::arange(3));
  const Example& example = batch.As<Example>();
  EXPECT_EQ(example.input.sizes(), (at::IntArrayRef{3, 3, 4, 6}));
  EXPECT_EQ(example.input.scalar_type(), at::kByte);
  EXPECT_TRUE(at::equal(example.target, at::tensor({0, 0, 1}, at::kLong)));
  EXPECT_TRUE(
      at::equal(example.input.select(2, 1).select(2, 2),
                at::tensor({40, 40, 40, 10, 20, 30, 50, 60, 70}, at::kByte)
                    .view({3, 3})));
}

TEST_F(ImageFolderTest, ResizesAndTransforms) {
  const ImageFolder folder =
      OpenImageFolder(root_,
                      {.channels = 1,
                       .height = 8,
                       .width = 2,
                       .transform =
                           [](at::Tensor image, SampleRandom& random) {
                             return image.to(at::kFloat).add(random.Uniform());
                           }})
          .value();
  const AnyBatch batch = folder.data->GatherIn(1, at::arange(3));
  EXPECT_EQ(batch.As<Example>().input.sizes(), (at::IntArrayRef{3, 1, 8, 2}));
  EXPECT_TRUE(
      at::equal(batch.As<Example>().input,
                folder.data->GatherIn(1, at::arange(3)).As<Example>().input));
  EXPECT_FALSE(
      at::equal(batch.As<Example>().input,
                folder.data->GatherIn(2, at::arange(3)).As<Example>().input));
}

TEST_F(ImageFolderTest, DecodingErrorNamesTheFile) {
  const std::string whole = EncodePngForTest(PlainImage(4, 6, {1, 2, 3}));
  Write("cat/torn.png", whole.substr(0, whole.size() / 2));
  const ImageFolder folder = OpenImageFolder(root_, {}).value();
  try {
    folder.data->Gather(at::arange(4));
    FAIL() << "half an image was read";
  } catch (const SampleError& error) {
    EXPECT_EQ(error.index(), 2);
    EXPECT_THAT(error.what(), HasSubstr("cat/torn.png: the PNG does not"));
  }
}

TEST_F(ImageFolderTest, LeaveOutBrokenSkipsFilesThatDoNotDecode) {
  Write("cat/torn.png", "");
  const ImageFolder folder =
      OpenImageFolder(root_, {.leave_out_broken = true}).value();
  EXPECT_EQ(folder.data->size(), 3);
  EXPECT_THAT(folder.broken, ElementsAre(EndsWith("cat/torn.png")));
  EXPECT_EQ(folder.data->Gather(at::arange(3)).size(), 3);
}

TEST_F(ImageFolderTest, ErrorNamesTheFolder) {
  const absl::Status absent = OpenImageFolder("/nowhere", {}).status();
  EXPECT_EQ(absent.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(absent.message()), HasSubstr("/nowhere"));
  const absl::Status empty = OpenImageFolder(root_ + "/dog/deep", {}).status();
  EXPECT_THAT(std::string(empty.message()), HasSubstr("there are 0 folders"));
  EXPECT_THROW((void)OpenImageFolder(root_, {.channels = 4}), c10::ValueError);
  EXPECT_THROW((void)OpenImageFolder(root_, {.height = 4}), c10::ValueError);
}

TEST_F(ImageFolderTest, HeaderExample) {
  Write("flowers/train/rose/a.png",
        EncodePngForTest(PlainImage(8, 8, {1, 2, 3})));
  std::filesystem::current_path(root_);
  const auto sampler = std::make_shared<SequentialSampler>(1);
  const ImageFolder folder =
      OpenImageFolder("flowers/train", {.height = 64, .width = 64}).value();
  Loader loader(folder.data, sampler, {.batch_size = 32, .num_workers = 4});
  loader.StartEpoch(0);
  EXPECT_EQ(loader.Next()->As<Example>().input.sizes(),
            (at::IntArrayRef{1, 3, 64, 64}));
}

}  // namespace
}  // namespace trainyard

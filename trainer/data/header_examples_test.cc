// The examples of this folder's headers.
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/collate.h"
#include "trainer/data/dataset.h"
#include "trainer/data/idx_files.h"
#include "trainer/data/item_dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/loader_options.h"
#include "trainer/data/map_batch.h"
#include "trainer/data/partition.h"
#include "trainer/data/sample_error.h"
#include "trainer/data/sample_random.h"
#include "trainer/data/sampler.h"
#include "trainer/data/tensor_tree.h"

namespace trainyard {
namespace {

struct ImageBatch {
  at::Tensor image, label;
  auto tensors() { return std::tie(image, label); }
};

struct Boxes {
  at::Tensor corners, label;
  auto tensors() { return std::tie(corners, label); }
};
struct Scene {
  at::Tensor image;
  Boxes boxes;
  std::map<std::string, at::Tensor> extra;
  auto tensors() { return std::tie(image, boxes, extra); }
};

class Squares final : public ItemDataset<Example> {
  int64_t size() const override { return 100; }
  Example Get(int64_t i) const override {
    return {at::full({1}, i), at::full({1}, i * i)};
  }
};

// An ItemDataset whose Get can be called.
class PublicSquares final : public ItemDataset<Example> {
 public:
  int64_t size() const override { return 100; }
  Example Get(int64_t i) const override {
    return {at::full({1}, i), at::full({1}, i * i)};
  }
};

TEST(DataHeaderExamplesTest, Batch) {
  const AnyBatch batch(ImageBatch{at::ones({4, 2}), at::ones({4})});
  EXPECT_EQ(batch.size(), 4);
}

TEST(DataHeaderExamplesTest, TensorTree) {
  Scene scene{at::ones({1}), {at::ones({1}), at::ones({1})}, {}};
  scene.extra["mask"] = at::ones({1});
  ForEachTensor(scene,
                [](at::Tensor& tensor) { tensor = tensor.to(at::kHalf); });
  EXPECT_EQ(scene.extra["mask"].scalar_type(), at::kHalf);
}

TEST(DataHeaderExamplesTest, Collate) {
  const PublicSquares dataset;
  const Example batch = StackItems<Example>({dataset.Get(4), dataset.Get(2)});
  EXPECT_EQ(batch.target[0].item<int64_t>(), 16);
}

TEST(DataHeaderExamplesTest, Dataset) {
  const PublicSquares dataset;
  const AnyBatch batch = dataset.Gather(at::tensor({5, 0, 3}, at::kLong));
  EXPECT_EQ(batch.As<Example>().input[2].item<int64_t>(), 3);
}

TEST(DataHeaderExamplesTest, ItemDataset) {
  const DatasetPtr squares = std::make_shared<const Squares>();
  const DatasetPtr data = MakeItemDataset<Example>(100, [](int64_t i) {
    return Example{at::full({1}, i), at::full({1}, i * i)};
  });
  EXPECT_EQ(data->size(), squares->size());
}

TEST(DataHeaderExamplesTest, IdxFiles) {
  std::filesystem::current_path(::testing::TempDir());
  std::ofstream("train-images-idx3-ubyte.gz", std::ios::binary)
      << std::string({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 7, 9});
  const at::Tensor images = ReadIdxFile("train-images-idx3-ubyte.gz").value();
  EXPECT_EQ(images.sizes(), (at::IntArrayRef{1, 1, 2}));
}

TEST(DataHeaderExamplesTest, MapBatch) {
  const AnyBatch batch(MapBatch{{"age", at::ones({3})}});
  const at::Tensor& age = batch.As<MapBatch>().at("age");
  EXPECT_EQ(age.numel(), 3);
}

TEST(DataHeaderExamplesTest, LoaderOptions) {
  const LoaderOptions options{.batch_size = 128, .num_workers = 2};
  EXPECT_EQ(PrefetchOf(options), 4);
}

TEST(DataHeaderExamplesTest, Partition) {
  Partition partition(
      {.samples = 10, .batch_size = 2, .rank = 1, .num_ranks = 2});
  EXPECT_EQ(partition.At(0, 1), (Partition::Rows{6, 2, 0}));
  partition.At(/*first_sample=*/0, /*batch=*/1);  // positions 6 and 7
}

TEST(DataHeaderExamplesTest, SampleError) {
  const DatasetPtr data =
      MakeItemDataset<at::Tensor>(3, [](int64_t i) -> at::Tensor {
        if (i == 1) throw std::runtime_error("torn page");
        return at::full({}, i);
      });
  Loader loader(data, std::make_shared<SequentialSampler>(3), {});
  loader.StartEpoch(0);
  std::vector<int64_t> skipped;
  for (int64_t i = 0; i < 3; ++i) {
    try {
      loader.Next();
    } catch (const SampleError& e) {
      skipped.push_back(e.index());
    }
  }
  EXPECT_EQ(skipped, std::vector<int64_t>{1});
}

TEST(DataHeaderExamplesTest, SampleRandom) {
  SampleRandom random(SampleKey(/*seed=*/1, /*epoch=*/0, /*index=*/17));
  const bool flip = random.Chance(0.5);
  const int64_t left = random.Below(9);
  SampleRandom again(SampleKey(1, 0, 17));
  EXPECT_EQ(again.Chance(0.5), flip);
  EXPECT_EQ(again.Below(9), left);
}

TEST(DataHeaderExamplesTest, Sampler) {
  ShuffledSampler sampler(60000, /*seed=*/1);
  const at::Tensor order = sampler.Order(/*epoch=*/3);
  EXPECT_EQ(order.numel(), 60000);
}

}  // namespace
}  // namespace trainyard

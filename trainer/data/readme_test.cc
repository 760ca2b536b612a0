// The examples of README.md.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "trainer/data/datasets/map.h"
#include "trainer/data/item_dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/data/transforms/flip.h"
#include "trainer/data/transforms/normalize.h"

namespace trainyard {
namespace {

TEST(DataReadmeTest, Loads) {
  const at::Tensor images = at::randint(0, 256, {300, 28, 28}, at::kByte);
  const at::Tensor labels = at::arange(300);
  const Normalize normalize({.mean = {0.1307}, .deviation = {0.3081}});
  int64_t used = 0;
  const auto Use = [&](const at::Tensor& input, const at::Tensor& target) {
    EXPECT_EQ(input.scalar_type(), at::kFloat);
    used += target.size(0);
  };
  const DatasetPtr data = MapBatches<Example>(
      MakeTensorDataset(Example{images, labels}),
      [normalize](Example e, BatchRandom& random) {
        e.input = RandomFlip(e.input, {}, random);
        return Example{normalize(e.input), e.target};
      },
      /*seed=*/1);
  Loader loader(data, std::make_shared<ShuffledSampler>(data->size(), 1),
                {.batch_size = 128, .num_workers = 2});
  loader.StartEpoch(0);
  while (const std::optional<AnyBatch> batch = loader.Next()) {
    const Example& example = batch->As<Example>();
    Use(example.input, example.target);
  }
  EXPECT_EQ(used, 300);
}

class Squares final : public ItemDataset<Example> {
 public:
  int64_t size() const override { return 100; }
  Example Get(int64_t i) const override {
    return {at::full({1}, i), at::full({1}, i * i)};
  }
};

class EvenFirst final : public Sampler {
 public:
  int64_t size() const override { return 10; }
  at::Tensor Order(int64_t) const override {
    return at::cat({at::arange(0, 10, 2), at::arange(1, 10, 2)});
  }
};

TEST(DataReadmeTest, OwnDatasetAndSampler) {
  Loader loader(std::make_shared<const Squares>(),
                std::make_shared<const EvenFirst>(), {.batch_size = 10});
  loader.StartEpoch(0);
  const AnyBatch batch = *loader.Next();
  EXPECT_EQ(batch.As<Example>().target[4].item<int64_t>(), 64);
  EXPECT_EQ(batch.As<Example>().target[5].item<int64_t>(), 1);
}

}  // namespace
}  // namespace trainyard

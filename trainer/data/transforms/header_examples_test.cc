// The examples of this folder's headers.
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <vector>

#include "trainer/data/datasets/map.h"
#include "trainer/data/item_dataset.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/data/transforms/batch_random.h"
#include "trainer/data/transforms/crop.h"
#include "trainer/data/transforms/cutout.h"
#include "trainer/data/transforms/flip.h"
#include "trainer/data/transforms/mixup.h"
#include "trainer/data/transforms/pad_to_longest.h"

namespace trainyard {
namespace {

TEST(TransformHeaderExamplesTest, Images) {
  const at::Tensor indices = at::arange(2);
  const uint64_t seed = 1;
  const int64_t epoch = 0;
  at::Tensor images = at::ones({2, 3, 32, 32});
  BatchRandom random = BatchRandomOf(indices, seed, epoch);
  images =
      RandomCrop(images, {.height = 32, .width = 32, .padding = 4}, random);
  images = Cutout(images, {.size = 8}, random);
  images = RandomFlip(images, {}, random);
  EXPECT_EQ(images.sizes(), (at::IntArrayRef{2, 3, 32, 32}));
  EXPECT_LT(images.sum().item<double>(), 2 * 3 * 32 * 32);
}

DatasetPtr Mixed(const DatasetPtr& data) {
  return MapBatches<Example>(data, [](Example e, BatchRandom& random) {
    return Mixup(e, {.alpha = 0.2, .num_classes = 10}, random);
  });
}

TEST(TransformHeaderExamplesTest, Mixup) {
  const DatasetPtr data =
      Mixed(MakeTensorDataset(Example{at::ones({4, 2, 2}), at::arange(4)}));
  const AnyBatch batch = data->Gather(at::arange(4));
  EXPECT_EQ(batch.As<Example>().target.sizes(), (at::IntArrayRef{4, 10}));
}

TEST(TransformHeaderExamplesTest, PadToLongest) {
  const int64_t size = 3;
  const auto get = [](int64_t i) { return at::ones({i + 1}); };
  const DatasetPtr data =
      MakeItemDataset<at::Tensor>(size, get, [](std::vector<at::Tensor> items) {
        return AnyBatch(PadToLongest(items));
      });
  const AnyBatch batch = data->Gather(at::arange(3));
  EXPECT_EQ(batch.As<PaddedSequences>().values.size(1), 3);
}

}  // namespace
}  // namespace trainyard

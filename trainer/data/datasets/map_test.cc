#include "trainer/data/datasets/map.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "trainer/data/tensor_dataset.h"

namespace trainyard {
namespace {

DatasetPtr Numbers(int64_t size) { return MakeTensorDataset(at::arange(size)); }

TEST(MapBatchesTest, AppliesTheFunctionAndMayChangeTheType) {
  const DatasetPtr data = MapBatches<at::Tensor>(
      Numbers(5), [](at::Tensor t) { return Example{t, t.neg()}; });
  EXPECT_EQ(data->size(), 5);
  EXPECT_TRUE(at::equal(data->Gather(at::arange(5)).As<Example>().target,
                        at::arange(5).neg()));
  EXPECT_THROW(MapBatches<at::Tensor>(nullptr, [](at::Tensor t) { return t; }),
               c10::ValueError);
}

// A random number of each sample, in place of it.
DatasetPtr Noise(uint64_t seed) {
  return MapBatches<at::Tensor>(
      Numbers(100),
      [](const at::Tensor& t, BatchRandom& random) {
        at::Tensor noise = at::empty({t.size(0)}, at::kDouble);
        for (size_t row = 0; row < random.size(); ++row)
          noise.data_ptr<double>()[row] = random[row].Uniform();
        return noise;
      },
      seed);
}

at::Tensor NoiseOf(uint64_t seed, int64_t epoch, const at::Tensor& indices) {
  return Noise(seed)->GatherIn(epoch, indices).As<at::Tensor>();
}

TEST(MapBatchesTest, RandomNumbersDependOnTheSampleOnly) {
  const at::Tensor all = NoiseOf(1, 2, at::arange(100));
  const at::Tensor halves = at::cat(
      {NoiseOf(1, 2, at::arange(50)), NoiseOf(1, 2, at::arange(50, 100))});
  EXPECT_TRUE(at::equal(all, halves));
  EXPECT_TRUE(at::equal(all.flip(0), NoiseOf(1, 2, at::arange(99, -1, -1))));
  EXPECT_FALSE(at::equal(all, NoiseOf(1, 3, at::arange(100))));
  EXPECT_FALSE(at::equal(all, NoiseOf(2, 2, at::arange(100))));
  EXPECT_GT(all.std().item<double>(), 0.2);
}

}  // namespace
}  // namespace trainyard

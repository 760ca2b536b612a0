#include "backends/sharded/tensor_buckets.h"

#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<at::Tensor> OfBytes(const std::vector<int64_t>& sizes) {
  std::vector<at::Tensor> tensors;
  for (const int64_t size : sizes) {
    tensors.push_back(at::empty({size}, at::kByte));
  }
  return tensors;
}

TEST(TensorBucketsTest, FillsBucketsUpToTheirLimits) {
  EXPECT_THAT(
      GroupIntoBuckets(OfBytes({2, 2, 1, 5, 5, 1}), 4, 10),
      ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_THAT(GroupIntoBuckets({}, 4, 10), IsEmpty());
}

TEST(TensorBucketsTest, ALargeTensorHasABucketOfItsOwn) {
  EXPECT_THAT(GroupIntoBuckets(OfBytes({9, 1, 20, 3}), 4, 10),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2),
                          ElementsAre(3)));
}

TEST(TensorBucketsTest, TypesAreNotMixed) {
  std::vector<at::Tensor> tensors = OfBytes({1, 1, 1});
  tensors[1] = at::empty({1}, at::kInt);
  const auto buckets = GroupIntoBuckets(tensors, /*first_bytes=*/1 << 20,
                                        /*bytes=*/25 << 20);
  EXPECT_THAT(buckets,
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

}  // namespace
}  // namespace trainyard

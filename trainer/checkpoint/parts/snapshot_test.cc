#include "trainer/checkpoint/parts/snapshot.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/launch/testing/test_rank.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

at::Device Device() { return at::Device(TestDevice()); }

const at::Tensor& TensorOf(const Snapshot& snapshot, size_t i) {
  return snapshot.checkpoint().tensors.at("model").at(i).tensor;
}

Checkpoint Make() {
  Checkpoint checkpoint{.step = 3};
  for (const char* name : {"a", "b", "c", "d"}) {
    checkpoint.tensors["model"].push_back({name, at::ones({2, 3}, Device())});
  }
  SetTensor(checkpoint.parts["window"], "gradient", at::ones({4}, Device()));
  return checkpoint;
}

TEST(SnapshotTest, KeepsTheStateAtTheTimeOfTheCopy) {
  const Checkpoint checkpoint = Make();
  Snapshot snapshot;
  ASSERT_TRUE(snapshot.Take(checkpoint).ok());
  checkpoint.tensors.at("model")[0].tensor.fill_(7);
  GetTensor(checkpoint.parts.at("window"), "gradient").fill_(7);
  EXPECT_EQ(snapshot.checkpoint().step, 3);
  EXPECT_TRUE(at::equal(TensorOf(snapshot, 0), at::ones({2, 3})));
  EXPECT_TRUE(
      at::equal(GetTensor(snapshot.checkpoint().parts.at("window"), "gradient"),
                at::ones({4})));
}

// More than a thread copies at a time, and not a multiple of it.
TEST(SnapshotTest, CopiesLargeTensorsByAnyNumberOfThreads) {
  Checkpoint checkpoint = Make();
  for (const int64_t elements : {3'000'001, 262'144, 7}) {
    checkpoint.tensors["model"].push_back(
        {std::to_string(elements), at::arange(elements, Device())});
  }
  const int threads = at::get_num_threads();
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    Snapshot snapshot;
    ASSERT_TRUE(snapshot.Take(checkpoint).ok());
    for (size_t i = 0; i < 7; ++i) {
      EXPECT_TRUE(at::equal(TensorOf(snapshot, i),
                            checkpoint.tensors["model"][i].tensor.cpu()));
    }
  }
  at::set_num_threads(threads);
}

TEST(SnapshotTest, ReusesBuffersForTheSameShapes) {
  Checkpoint checkpoint = Make();
  Snapshot snapshot;
  ASSERT_TRUE(snapshot.Take(checkpoint).ok());
  const void* const first = TensorOf(snapshot, 0).const_data_ptr();
  const void* const second = TensorOf(snapshot, 1).const_data_ptr();
  checkpoint.tensors.at("model")[0].tensor.fill_(2);
  checkpoint.tensors.at("model")[1].tensor = at::full({9, 9}, 2.0, Device());
  ASSERT_TRUE(snapshot.Take(checkpoint).ok());
  EXPECT_EQ(TensorOf(snapshot, 0).const_data_ptr(), first);
  EXPECT_NE(TensorOf(snapshot, 1).const_data_ptr(), second);
  EXPECT_TRUE(at::equal(TensorOf(snapshot, 0), at::full({2, 3}, 2.0)));
  EXPECT_TRUE(at::equal(TensorOf(snapshot, 1), at::full({9, 9}, 2.0)));
}

TEST(SnapshotTest, CopiesATensorWithoutElements) {
  Checkpoint checkpoint = Make();
  checkpoint.tensors.at("model")[0].tensor = at::ones({0, 3}, Device());
  Snapshot snapshot;
  for (int i = 0; i < 2; ++i) {  // into a new buffer, and into the same
    ASSERT_TRUE(snapshot.Take(checkpoint).ok());
    EXPECT_EQ(TensorOf(snapshot, 0).sizes(), at::IntArrayRef({0, 3}));
  }
}

// Four tensors of one size: each of two ranks copies two of them.
TEST(SnapshotTest, CopiesOnlyTheShareOfThisRank) {
  const Checkpoint checkpoint = Make();
  std::vector<int> copies(4);
  for (int rank = 0; rank < 2; ++rank) {
    Snapshot snapshot;
    ASSERT_TRUE(
        snapshot.Take(checkpoint, {.rank = rank, .world_size = 2}).ok());
    int own = 0;
    for (size_t i = 0; i < copies.size(); ++i) {
      const bool copied =
          !TensorOf(snapshot, i)
               .is_same(checkpoint.tensors.at("model")[i].tensor);
      copies[i] += copied;
      own += copied;
    }
    EXPECT_EQ(own, 2) << "rank " << rank;
    // Parts are each process's own.
    EXPECT_FALSE(
        GetTensor(snapshot.checkpoint().parts.at("window"), "gradient")
            .is_same(GetTensor(checkpoint.parts.at("window"), "gradient")));
  }
  EXPECT_EQ(copies, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace trainyard

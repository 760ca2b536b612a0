#include "backends/output_collector.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/collectives.h"

namespace trainyard {
namespace {

TEST(OutputCollectorTest, HeaderExample) {
  const at::Tensor logits = at::ones({2, 3});
  const at::Tensor labels = at::ones({2});
  OutputCollector outputs;
  outputs.Collect({logits, labels});
  const std::vector<at::Tensor> all = outputs.All();
  ASSERT_EQ(all.size(), 2);
  const auto owner = MakeLocalCollectives();
  Collectives& collectives = *owner;
  const std::vector<at::Tensor> of_ranks = outputs.AllOf(collectives);
  ASSERT_EQ(of_ranks.size(), 2);
  EXPECT_TRUE(at::equal(all[0], logits));
  EXPECT_TRUE(at::equal(all[1], labels));
  EXPECT_TRUE(at::equal(of_ranks[1], labels));
}

TEST(OutputCollectorTest, ATensorIsAListOfOne) {
  OutputCollector outputs;
  outputs.Collect(at::full({2, 3, 4}, 1));
  outputs.Collect(at::full({1, 3, 4}, 2));
  ASSERT_EQ(outputs.All().size(), 1);
  EXPECT_TRUE(at::equal(outputs.All()[0], at::cat({at::full({2, 3, 4}, 1),
                                                   at::full({1, 3, 4}, 2)})));
}

TEST(OutputCollectorTest, ConcatenatesListsByPosition) {
  OutputCollector outputs;
  for (int step = 0; step < 3; ++step) {
    outputs.Collect({at::full({1, 1}, step), at::full({2}, 10 * step)});
  }
  ASSERT_EQ(outputs.All().size(), 2);
  EXPECT_EQ(outputs.All()[0].sizes(), at::IntArrayRef({3, 1}));
  EXPECT_EQ(outputs.All()[1].sizes(), at::IntArrayRef({6}));
  EXPECT_EQ(outputs.All()[1][5].item<int64_t>(), 20);
}

// In PyMarlin it has no dimension until the second scalar.
TEST(OutputCollectorTest, AScalarIsARow) {
  OutputCollector outputs;
  outputs.Collect(at::full({}, 1));
  EXPECT_EQ(outputs.All()[0].sizes(), at::IntArrayRef({1}));
  outputs.Collect(at::full({}, 2));
  EXPECT_EQ(outputs.All()[0].sizes(), at::IntArrayRef({2}));
}

TEST(OutputCollectorTest, DetachesAndCopies) {
  OutputCollector outputs;
  at::Tensor w = at::ones({2}).requires_grad_();
  outputs.Collect(w.mul(2));
  EXPECT_FALSE(outputs.All()[0].requires_grad());
  at::Tensor reused = at::ones({2});
  outputs.Reset();
  EXPECT_TRUE(outputs.All().empty());
  outputs.Collect(reused);
  reused.fill_(5);
  EXPECT_EQ(outputs.All()[0][0].item<float>(), 1);
}

TEST(OutputCollectorTest, RejectsAnotherNumberOfOutputs) {
  OutputCollector outputs;
  outputs.Collect(at::ones({1}));
  EXPECT_THROW(outputs.Collect({at::ones({1}), at::ones({1})}),
               c10::ValueError);
  EXPECT_THROW(outputs.Collect(at::Tensor()), c10::ValueError);
}

}  // namespace
}  // namespace trainyard

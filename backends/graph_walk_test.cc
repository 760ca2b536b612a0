#include "backends/graph_walk.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(GraphWalkTest, FindsWhatTheLossDependsOn) {
  const at::Tensor a = at::ones({2}).requires_grad_();
  const at::Tensor b = at::ones({2}).requires_grad_();
  const at::Tensor unused = at::ones({2}).requires_grad_();
  const at::Tensor frozen = at::ones({2});
  const at::Tensor detached = unused.mul(2).detach();
  const GraphWalk walk(a.mul(b).mul(frozen).mul(detached).add(a).sum());
  EXPECT_TRUE(walk.ReachesAny({a}));
  EXPECT_TRUE(walk.ReachesAny({unused, b}));
  EXPECT_FALSE(walk.ReachesAny({unused}));
  EXPECT_FALSE(walk.ReachesAny({frozen}));
  EXPECT_FALSE(walk.ReachesAny({}));
}

TEST(GraphWalkTest, ALossThatIsAParameterReachesIt) {
  const at::Tensor a = at::ones({}).requires_grad_();
  EXPECT_TRUE(GraphWalk(a).ReachesAny({a}));
}

// Each node is seen once: 2^200 ways lead to the parameter.
TEST(GraphWalkTest, ManyWaysAreOneWalk) {
  const at::Tensor a = at::ones({}).requires_grad_();
  at::Tensor loss = a.mul(0.5);
  for (int i = 0; i < 200; ++i) loss = loss.mul(0.5).add(loss.mul(0.5));
  EXPECT_TRUE(GraphWalk(loss).ReachesAny({a}));
}

}  // namespace
}  // namespace trainyard

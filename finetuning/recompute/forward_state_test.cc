#include "finetuning/recompute/forward_state.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <optional>

#include "backends/autocast.h"

namespace trainyard {
namespace {

TEST(ForwardStateTest, DrawsTheSameAgainAndGoesOnAsBefore) {
  const ForwardState before({}, /*rng=*/true);
  const at::Tensor first = at::rand({4});
  std::optional<ForwardState> later(std::in_place, std::vector<at::Tensor>{},
                                    true);
  const at::Tensor second = at::rand({4});
  {
    const ForwardState::Again again(*later);
    {
      const ForwardState::Again inner(before);
      EXPECT_TRUE(at::equal(at::rand({4}), first));
    }
    EXPECT_TRUE(at::equal(at::rand({4}), second));
  }
  EXPECT_FALSE(at::equal(at::rand({4}), second));
}

TEST(ForwardStateTest, LeavesTheGeneratorAloneIfAsked) {
  const ForwardState before({}, /*rng=*/false);
  const at::Tensor first = at::rand({4});
  const ForwardState::Again again(before);
  EXPECT_FALSE(at::equal(at::rand({4}), first));
}

TEST(ForwardStateTest, CastsAsBefore) {
  std::optional<ForwardState> inside;
  {
    const Autocast autocast(at::kCPU, at::kHalf);
    inside.emplace(std::vector<at::Tensor>{}, true);
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  {
    const Autocast other(at::kCPU, at::kBFloat16);
    const ForwardState::Again again(*inside);
    EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
    EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kHalf);
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  EXPECT_NE(at::autocast::get_autocast_dtype(at::kCPU), at::kHalf);
}

}  // namespace
}  // namespace trainyard

#include "finetuning/recompute/forward_state.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <optional>

#include "backends/autocast.h"

namespace trainyard {
namespace {

TEST(ForwardStateTest, HeaderExample) {
  const std::vector<at::Tensor> inputs = {at::rand({4})};
  const auto block = [](const std::vector<at::Tensor>& in) {
    return in[0].add(at::rand({4}));
  };
  const ForwardState before(inputs, /*rng=*/true);
  const at::Tensor first = block(inputs);
  at::Tensor outputs;
  {
    const ForwardState::Restore restored(before);
    outputs = block(inputs);
  }
  EXPECT_TRUE(at::equal(outputs, first));
}

TEST(ForwardStateTest, RestoresTheGeneratorAndPutsItBack) {
  const ForwardState before({}, /*rng=*/true);
  const at::Tensor first = at::rand({4});
  std::optional<ForwardState> later(std::in_place, std::vector<at::Tensor>{},
                                    true);
  const at::Tensor second = at::rand({4});
  {
    const ForwardState::Restore again(*later);
    {
      const ForwardState::Restore inner(before);
      EXPECT_TRUE(at::equal(at::rand({4}), first));
    }
    EXPECT_TRUE(at::equal(at::rand({4}), second));
  }
  EXPECT_FALSE(at::equal(at::rand({4}), second));
}

TEST(ForwardStateTest, DoesNotTouchTheGeneratorWithoutRng) {
  const ForwardState before({}, /*rng=*/false);
  const at::Tensor first = at::rand({4});
  const ForwardState::Restore again(before);
  EXPECT_FALSE(at::equal(at::rand({4}), first));
}

TEST(ForwardStateTest, RestoresAutocast) {
  std::optional<ForwardState> inside;
  {
    const Autocast autocast(at::kCPU, at::kHalf);
    inside.emplace(std::vector<at::Tensor>{}, true);
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  {
    const Autocast other(at::kCPU, at::kBFloat16);
    const ForwardState::Restore again(*inside);
    EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
    EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kHalf);
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  EXPECT_NE(at::autocast::get_autocast_dtype(at::kCPU), at::kHalf);
}

}  // namespace
}  // namespace trainyard

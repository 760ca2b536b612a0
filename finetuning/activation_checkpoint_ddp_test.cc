#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/amp.h"
#include "backends/ddp.h"
#include "backends/single_process.h"
#include "backends/testing/rank_group.h"
#include "finetuning/activation_checkpoint.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/model/model_tensors.h"

namespace trainyard {
namespace {

constexpr int64_t kWidth = 32;

std::unique_ptr<Backend> MakeDdp(bool find_unused) {
  ReducerOptions reducer;
  reducer.find_unused_parameters = find_unused;
  return MakeDdpBackend(RankGroup(),
                        MakeSingleProcessBackend(at::Device(TestDevice())),
                        {.reducer = reducer});
}

// The gradients of two windows of two batches over four blocks, of which each
// rank sees other data.
std::vector<at::Tensor> Gradients(Backend& backend, bool checkpointed) {
  at::manual_seed(7);
  ModelTensors model{"net", {}};
  for (int i = 0; i < 4; ++i) {
    model.parameters.push_back(
        {"w" + std::to_string(i), at::randn({kWidth, kWidth}, backend.device())
                                      .div_(4)
                                      .requires_grad_()});
  }
  backend.Prepare({model});
  at::manual_seed(100 + static_cast<uint64_t>(backend.rank()));
  std::vector<at::Tensor> gradients;
  for (int batch = 0; batch < 4; ++batch) {
    at::Tensor x = at::randn({3, kWidth}, backend.device());
    at::Tensor loss;
    backend.Forward([&] {
      for (const NamedTensor& weight : model.parameters) {
        const auto block = [w = weight.tensor](const at::Tensor& y) {
          return at::dropout(at::linear(y, w).tanh(), 0.2, /*train=*/true);
        };
        x = checkpointed ? CheckpointActivations(block, x) : block(x);
      }
      loss = x.to(at::kFloat).square().sum();
    });
    const bool sync = batch % 2 == 1;
    backend.Backward(loss, {.sync = sync});
    if (!sync) continue;
    for (const NamedTensor& weight : model.parameters) {
      gradients.push_back(weight.tensor.grad().clone());
      weight.tensor.mutable_grad().reset();
    }
    backend.EndWindow();
  }
  return gradients;
}

void ExpectSame(const std::vector<at::Tensor>& actual,
                const std::vector<at::Tensor>& expected) {
  ASSERT_EQ(actual.size(), 8);
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(at::equal(actual[i], expected[i])) << i;
    EXPECT_GT(actual[i].abs().sum().item<double>(), 0) << i;
  }
}

TEST(ActivationCheckpointDdpTest, GradientsAreTheSameToTheBit) {
  for (const bool find_unused : {false, true}) {
    const auto checkpointed = MakeDdp(find_unused);
    const auto plain = MakeDdp(find_unused);
    ExpectSame(Gradients(*checkpointed, true), Gradients(*plain, false));
  }
}

TEST(ActivationCheckpointDdpTest, GradientsAreTheSameInHalfPrecision) {
  // Gradients in fp16 must not overflow: they would be NaN, and not equal.
  const AmpOptions options = {.scaler = {.init_scale = 1}};
  const auto checkpointed = MakeAmpBackend(MakeDdp(false), options);
  const auto plain = MakeAmpBackend(MakeDdp(false), options);
  ExpectSame(Gradients(*checkpointed, true), Gradients(*plain, false));
}

}  // namespace
}  // namespace trainyard

// A step that is replayed on the stand-in computes what it computes without a
// graph, to the bit. Uses torch/nn for the model of that step.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn.h>

#include <cstdint>
#include <vector>

#include "backends/own_stream.h"
#include "backends/step_graph.h"
#include "backends/testing/standin/standin.h"

namespace trainyard {
namespace {

using ::testing::IsEmpty;

// A step as one would write it by hand: SGD with momentum, dropout, BatchNorm.
class HandWritten {
 public:
  HandWritten()
      : net_((torch::manual_seed(1),
              torch::nn::Sequential(
                  torch::nn::Conv2d(1, 4, 3), torch::nn::BatchNorm2d(4),
                  torch::nn::ReLU(), torch::nn::Flatten(),
                  torch::nn::Dropout(0.5), torch::nn::Linear(144, 5)))) {
    net_->to(StandInDevice());
    for (const at::Tensor& parameter : net_->parameters()) {
      velocity_.push_back(at::zeros_like(parameter));
    }
    x_ = at::empty({8, 1, 8, 8}, StandInDevice());
    y_ = at::empty({8}, at::TensorOptions(StandInDevice()).dtype(at::kLong));
    rate_ = at::empty({}, StandInDevice());
  }

  // The inputs of a step, which are copied without a wait.
  void SetInputs(int step) {
    at::Generator generator = at::detail::createCPUGenerator(step);
    const at::Tensor x = at::randn({8, 1, 8, 8}, generator).pin_memory();
    const at::Tensor y = at::randint(0, 5, {8}, generator).pin_memory();
    x_.copy_(x, /*non_blocking=*/true);
    y_.copy_(y, /*non_blocking=*/true);
    rate_.fill_(0.1 / (1 + step));
  }

  void Step() {
    loss_ = torch::nn::functional::cross_entropy(net_->forward(x_), y_);
    loss_.backward();
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> gradients, parameters = net_->parameters();
    for (at::Tensor& parameter : parameters) {
      gradients.push_back(parameter.grad());
      parameter.mutable_grad().reset();
    }
    const at::Tensor norm = at::stack(at::_foreach_norm(gradients, 2)).norm();
    at::_foreach_div_(gradients, norm.clamp_min(1));
    at::_foreach_mul_(velocity_, 0.9);
    at::_foreach_add_(velocity_, gradients);
    at::_foreach_sub_(parameters, at::_foreach_mul(velocity_, rate_));
    loss_ = loss_.detach();
  }

  // Everything that a step changes, on the CPU.
  std::vector<at::Tensor> State() const {
    std::vector<at::Tensor> all = {loss_.cpu()};
    for (const at::Tensor& tensor : net_->parameters()) {
      all.push_back(tensor.detach().cpu());
    }
    for (const at::Tensor& tensor : net_->buffers())
      all.push_back(tensor.cpu());
    for (const at::Tensor& tensor : velocity_) all.push_back(tensor.cpu());
    all.push_back(
        at::globalContext().defaultGenerator(StandInDevice()).get_state());
    return all;
  }

 private:
  torch::nn::Sequential net_;
  std::vector<at::Tensor> velocity_;
  at::Tensor x_, y_, rate_, loss_;
};

TEST(StandInGraphTrainingTest, FiftyReplaysAreFiftySteps) {
  RegisterStandIn();
  const OwnStream stream(StandInDevice());
  constexpr int kSteps = 50;
  const auto seed = [] {
    at::Generator generator =
        at::globalContext().defaultGenerator(StandInDevice());
    generator.set_current_seed(3);
  };
  seed();
  HandWritten eager;
  for (int step = 0; step < kSteps; ++step) {
    eager.SetInputs(step);
    ResetStandInCounts();
    eager.Step();
  }
  const int64_t kernels = StandInCounts().kernels;
  seed();
  HandWritten captured;
  captured.SetInputs(0);
  captured.Step();  // warms up
  const auto graph = MakeStepGraph(StandInDevice());
  ResetStandInCounts();
  graph->Capture([&] { captured.Step(); });
  EXPECT_EQ(StandInCounts().kernels, 0);
  for (int step = 1; step < kSteps; ++step) {
    captured.SetInputs(step);
    ResetStandInCounts();
    graph->Replay();
    ASSERT_EQ(StandInCounts().kernels, kernels);
    ASSERT_EQ(StandInCounts().graph_replays, 1);
    ASSERT_THAT(StandInSynchronizations(), IsEmpty());
  }
  const auto expected = eager.State(), actual = captured.State();
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(expected[i].equal(actual[i])) << i;
  }
  EXPECT_THAT(TakeStandInErrors(), IsEmpty());
}

}  // namespace
}  // namespace trainyard

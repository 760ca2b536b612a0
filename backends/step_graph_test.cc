#include "backends/step_graph.h"

#include <ATen/Context.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "backends/own_stream.h"
#include "tools/launch/testing/test_rank.h"
#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

at::Device Device() { return at::Device(TestDevice()); }

class StepGraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasStepGraph(Device().type())) GTEST_SKIP() << "no graphs here";
  }
};

TEST(StepGraphOnTheCpuTest, IsRefused) {
  EXPECT_FALSE(HasStepGraph(at::kCPU));
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([] { MakeStepGraph(at::kCPU); }),
      AllOf(HasSubstr("cpu cannot be captured"), HasSubstr("--config=cuda")));
}

TEST(OwnStreamTest, ExampleOfTheHeader) {
  const at::Device device = Device();
  const at::Tensor x = at::ones({2}, device);
  at::Tensor y;
  {
    const OwnStream stream(device);
    y = x.mul(2);
  }
  y.add_(1);
  EXPECT_EQ(y.sum().item<double>(), 6);
}

TEST_F(StepGraphTest, ExampleOfTheHeader) {
  const at::Device device = Device();
  at::Tensor x = at::ones({2}, device), y;
  const at::Tensor input = at::full({2}, 3.0, device);
  const OwnStream stream(device);
  const std::unique_ptr<StepGraph> graph = MakeStepGraph(device);
  graph->Capture([&] { y = x.mul(2); });
  x.copy_(input);
  graph->Replay();
  EXPECT_EQ(y.sum().item<double>(), 12);
  x.fill_(5);
  graph->Replay();
  EXPECT_EQ(y.sum().item<double>(), 20);
}

TEST_F(StepGraphTest, ACaptureComputesNothing) {
  const at::Device device = Device();
  const at::Tensor x = at::ones({2}, device);
  const OwnStream stream(device);
  const auto graph = MakeStepGraph(device);
  graph->Capture([&] { x.add_(1); });
  EXPECT_EQ(x.sum().item<double>(), 2);
  graph->Replay();
  graph->Replay();
  EXPECT_EQ(x.sum().item<double>(), 6);
}

TEST_F(StepGraphTest, RandomNumbersAreThoseOfTheStep) {
  const at::Device device = Device();
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const OwnStream stream(device);
  at::rand({1}, at::TensorOptions(device));
  const at::Tensor state = generator.get_state();
  const auto draw = [&] { return at::rand({4}, at::TensorOptions(device)); };
  const at::Tensor first = draw(), second = draw(), third = draw();
  generator.set_state(state);
  const auto graph = MakeStepGraph(device);
  at::Tensor drawn;
  graph->Capture([&] { drawn = draw(); });
  graph->Replay();
  EXPECT_TRUE(drawn.equal(first));
  graph->Replay();
  EXPECT_TRUE(drawn.equal(second));
  EXPECT_TRUE(draw().equal(third));
}

TEST_F(StepGraphTest, AStepThatThrowsLeavesNothingBehind) {
  const at::Device device = Device();
  const at::Tensor x = at::ones({2}, device);
  const OwnStream stream(device);
  EXPECT_EQ(ErrorOf<std::runtime_error>([&] {
              MakeStepGraph(device)->Capture([&] {
                x.add_(1);
                throw std::runtime_error("own error");
              });
            }),
            "own error");
  EXPECT_EQ(x.sum().item<double>(), 2);
  const auto graph = MakeStepGraph(device);
  graph->Capture([&] { x.add_(1); });
  graph->Replay();
  EXPECT_EQ(x.sum().item<double>(), 4);
}

}  // namespace
}  // namespace trainyard

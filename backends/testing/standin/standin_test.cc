// The stand-in itself: it computes what the CPU computes, and catches planted
// mistakes of every kind.
#include "backends/testing/standin/standin.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <torch/nn.h>
#include <torch/optim/adamw.h>

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::KilledBySignal;

class StandInTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { RegisterStandIn(); }
  void SetUp() override { ResetStandInCounts(); }
  void TearDown() override { EXPECT_THAT(TakeStandInErrors(), IsEmpty()); }

  static c10::Stream Side() {
    return c10::impl::VirtualGuardImpl(StandInDevice().type())
        .getNewStream(StandInDevice());
  }
  static c10::Stream Main() {
    return c10::impl::VirtualGuardImpl(StandInDevice().type())
        .getStream(StandInDevice());
  }
  static at::Tensor Pinned(int64_t size = 4) {
    return at::ones({size}).pin_memory();
  }
};

using StandInDeathTest = StandInTest;

std::string MessageOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
  return "accepted";
}

TEST_F(StandInTest, ExampleOfTheHeader) {
  const at::Tensor x = at::ones({2, 3}, StandInDevice());
  ResetStandInCounts();
  const at::Tensor y = x.mul(2).sum();
  EXPECT_EQ(StandInCounts().synchronizations, 0);
  EXPECT_EQ(y.item<double>(), 12);
  EXPECT_EQ(StandInCounts().synchronizations, 1);
  EXPECT_THAT(TakeStandInErrors(), IsEmpty());
}

TEST_F(StandInTest, TrainsAConvolutionalNetToTheBitAsTheCpuDoes) {
  const auto train = [](at::Device device) {
    torch::manual_seed(1);
    torch::nn::Sequential net(
        torch::nn::Conv2d(1, 4, 3), torch::nn::BatchNorm2d(4),
        torch::nn::ReLU(), torch::nn::MaxPool2d(2), torch::nn::Flatten(),
        torch::nn::Linear(36, 16),
        torch::nn::LayerNorm(torch::nn::LayerNormOptions({16})),
        torch::nn::GELU(), torch::nn::Linear(16, 5));
    const at::Tensor x = torch::randn({8, 1, 8, 8}).to(device);
    const at::Tensor y = torch::randint(5, {8}).to(device);
    net->to(device);
    torch::optim::AdamW optimizer(net->parameters(), 1e-2);
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(net->forward(x), y).backward();
      optimizer.step();
    }
    std::vector<at::Tensor> all;
    for (const at::Tensor& tensor : net->parameters()) {
      all.push_back(tensor.detach().cpu());
    }
    for (const at::Tensor& tensor : net->buffers()) all.push_back(tensor.cpu());
    return all;
  };
  const auto cpu = train(at::kCPU), device = train(StandInDevice());
  ASSERT_EQ(cpu.size(), device.size());
  for (size_t i = 0; i < cpu.size(); ++i) {
    EXPECT_TRUE(cpu[i].equal(device[i]))
        << i << ": " << cpu[i].sub(device[i]).abs().max();
  }
}

TEST_F(StandInDeathTest, AHostReadOfDeviceMemoryFaults) {
  const at::Tensor x = at::ones({4}, StandInDevice());
  EXPECT_EXIT(
      {
        volatile const float value = *x.const_data_ptr<float>();
        (void)value;
      },
      KilledBySignal(SIGSEGV),
      "the host touched memory of the device: block .*16 bytes, allocated by");
}

TEST_F(StandInTest, TensorsOfDifferentDevicesDoNotMix) {
  const at::Tensor x = at::ones({2}, StandInDevice());
  EXPECT_THAT(MessageOf([&] { x.add(at::ones({2})); }),
              AllOf(HasSubstr("same device"), HasSubstr("standin:0"),
                    HasSubstr("cpu")));
  EXPECT_THAT(MessageOf([&] { x.add(at::ones({2}, StandInDevice(1))); }),
              HasSubstr("standin:1"));
  EXPECT_THAT(MessageOf([&] { at::cat({x, at::ones({1})}); }),
              HasSubstr("same device"));
  // A scalar on the host is a number.
  EXPECT_EQ(x.mul(at::scalar_tensor(3.0)).sum().item<double>(), 6);
}

TEST_F(StandInTest, AMissingWaitIsARace) {
  const at::Tensor x = at::zeros({4}, StandInDevice());
  {
    const c10::StreamGuard guard(Side());
    x.add(1);
  }
  EXPECT_THAT(TakeStandInErrors(),
              ElementsAre(AllOf(HasSubstr("race: aten::add on stream"),
                                HasSubstr("which aten::zero_"))));
  // Frees x without an error.
  c10::impl::VirtualGuardImpl(x.device().type()).synchronizeDevice(0);
}

TEST_F(StandInTest, AStreamThatWaitsMayUseTheMemory) {
  at::Tensor x = at::zeros({4}, StandInDevice());
  const c10::Stream side = Side();
  c10::Event before(StandInDevice().type());
  c10::Event after(StandInDevice().type());
  before.record(Main());
  before.block(side);
  {
    const c10::StreamGuard guard(side);
    x.add_(1);
    after.record(side);
  }
  after.block(Main());
  x.add_(1);
  EXPECT_EQ(StandInCounts().stream_waits, 2);
  EXPECT_EQ(StandInCounts().synchronizations, 0);
}

TEST_F(StandInTest, AFreedTensorMustNotBeInUseOnAnotherStream) {
  const auto use_on_side = [](bool record) {
    at::Tensor x = at::zeros({4}, StandInDevice());
    const c10::Stream side = Side();
    c10::Event ready(StandInDevice().type());
    ready.record(Main());
    ready.block(side);
    const c10::StreamGuard guard(side);
    const at::Tensor y = x.add(1);
    if (record) x.record_stream(side);
    x.reset();
  };
  use_on_side(/*record=*/true);
  EXPECT_THAT(TakeStandInErrors(), IsEmpty());
  use_on_side(/*record=*/false);
  EXPECT_THAT(
      TakeStandInErrors(),
      ElementsAre(AllOf(HasSubstr("use after free"), HasSubstr("aten::add"))));
}

TEST_F(StandInTest, ANumberThatTheHostHasReadIsNotInUse) {
  at::Tensor x;
  const c10::Stream side = Side();
  c10::Event made(StandInDevice().type());
  {
    const c10::StreamGuard guard(side);
    x = at::ones({}, StandInDevice());
    made.record(side);
  }
  made.block(Main());
  EXPECT_EQ(x.item<double>(), 1);
  x.reset();
}

TEST_F(StandInDeathTest, TheHostMustWaitForACopyToPinnedMemory) {
  const at::Tensor x = at::full({4}, 3.0, StandInDevice());
  const at::Tensor host = Pinned();
  host.copy_(x, /*non_blocking=*/true);
  EXPECT_EQ(StandInCounts().synchronizations, 0);
  EXPECT_EXIT(host.sum(), KilledBySignal(SIGSEGV),
              "page-locked memory that the copy to the host may still use");
  c10::impl::VirtualGuardImpl(x.device().type()).synchronizeStream(Main());
  EXPECT_EQ(host.sum().item<double>(), 12);
}

TEST_F(StandInDeathTest, TheHostMustNotChangePinnedMemoryThatIsBeingCopied) {
  const at::Tensor host = Pinned();
  const at::Tensor x = host.to(StandInDevice(), /*non_blocking=*/true);
  EXPECT_EQ(host.sum().item<double>(), 4);  // reading is fine
  EXPECT_EXIT(host.fill_(2), KilledBySignal(SIGSEGV), "the copy to the device");
  EXPECT_EQ(x.sum().item<double>(), 4);  // waits
  host.fill_(2);
}

TEST_F(StandInTest, AnEventIsDoneAfterMoreWork) {
  const at::Tensor x = at::zeros({1}, StandInDevice());
  const at::Tensor host = Pinned(1);
  host.copy_(x, /*non_blocking=*/true);
  c10::Event copied(StandInDevice().type());
  copied.record(Main());
  EXPECT_FALSE(copied.query());
  for (int i = 0; i < 3; ++i) x.add_(1);
  EXPECT_TRUE(copied.query());
  EXPECT_EQ(host.item<double>(), 0);
  EXPECT_EQ(StandInCounts().synchronizations, 0);
}

TEST_F(StandInTest, CopiesAreAsynchronousExactlyWhenCudasAre) {
  const at::Tensor device = at::ones({4}, StandInDevice());
  const auto waits = [&](const std::function<void()>& copy) {
    const int64_t before = StandInCounts().synchronizations;
    copy();
    return StandInCounts().synchronizations - before;
  };
  const at::Tensor pinned = Pinned(), pageable = at::ones({4});
  const auto to_device = [&](const at::Tensor& host, bool non_blocking) {
    return waits([&] { host.to(StandInDevice(), non_blocking); });
  };
  EXPECT_EQ(to_device(pinned, true), 0);
  EXPECT_EQ(to_device(pinned, false), 1);
  EXPECT_EQ(to_device(pageable, true), 1);
  EXPECT_EQ(to_device(pageable, false), 1);
  // Another type: converted on the device.
  EXPECT_EQ(waits([&] {
              at::empty({4}, device.options().dtype(at::kDouble))
                  .copy_(pinned, /*non_blocking=*/true);
            }),
            0);
  // Not contiguous: staged in memory that is not page-locked.
  EXPECT_EQ(to_device(Pinned(8).view({4, 2}).select(1, 0), true), 1);
  const auto to_host = [&](const at::Tensor& host, bool non_blocking) {
    return waits([&] { host.copy_(device, non_blocking); });
  };
  EXPECT_EQ(to_host(Pinned(), true), 0);
  EXPECT_EQ(to_host(Pinned(), false), 1);
  EXPECT_EQ(to_host(at::empty({4}), true), 1);
  // As on CUDA, a new tensor on the host is page-locked then.
  EXPECT_EQ(waits([&] { device.to(at::kCPU, /*non_blocking=*/true); }), 0);
  EXPECT_EQ(waits([&] { device.cpu(); }), 1);
  EXPECT_EQ(waits([&] { device.clone(); }), 0);
}

TEST_F(StandInTest, CountsCopiesBytesAndPeak) {
  const at::Tensor x = at::ones({256}).to(StandInDevice());
  EXPECT_EQ(StandInCounts().copies_to_device, 1);
  EXPECT_EQ(StandInCounts().bytes_to_device, 1024);
  const int64_t peak = StandInCounts().peak_bytes;
  at::empty({1024}, StandInDevice());
  EXPECT_EQ(StandInCounts().peak_bytes, peak + 4096);
  x.cpu();
  EXPECT_EQ(StandInCounts().copies_to_host, 1);
  EXPECT_EQ(StandInCounts().bytes_to_host, 1024);
  x.nonzero();
  EXPECT_THAT(StandInSynchronizations(),
              ElementsAre(HasSubstr("copy to the device"),
                          HasSubstr("copy to the host"), "aten::nonzero"));
}

TEST_F(StandInTest, NewMemoryHoldsNan) {
  EXPECT_TRUE(at::empty({4}, StandInDevice()).isnan().all().item<bool>());
}

TEST_F(StandInTest, TheGeneratorHasAStateOfItsOwn) {
  at::Generator generator =
      at::globalContext().defaultGenerator(StandInDevice());
  const at::Tensor host = at::detail::getDefaultCPUGenerator().get_state();
  const at::Tensor state = generator.get_state();
  const auto draw = [] {
    const at::Tensor x = at::randn({4}, StandInDevice());
    return at::cat({x, at::dropout(at::ones_like(x), 0.5, /*train=*/true),
                    std::get<0>(at::native_dropout(x, 0.5, true))})
        .cpu();
  };
  const at::Tensor first = draw();
  EXPECT_FALSE(draw().equal(first));
  generator.set_state(state);
  EXPECT_TRUE(draw().equal(first));
  EXPECT_TRUE(at::detail::getDefaultCPUGenerator().get_state().equal(host));
}

TEST_F(StandInTest, AutocastComputesInHalfPrecision) {
  const at::Tensor x = at::ones({2, 2}, StandInDevice());
  at::autocast::set_autocast_enabled(StandInDevice().type(), true);
  at::autocast::set_autocast_dtype(StandInDevice().type(), at::kHalf);
  const at::Tensor y = x.matmul(x);
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  EXPECT_EQ(y.softmax(0).scalar_type(), at::kFloat);
  at::autocast::set_autocast_enabled(StandInDevice().type(), false);
  at::autocast::clear_cache();
  EXPECT_EQ(x.matmul(x).scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace trainyard

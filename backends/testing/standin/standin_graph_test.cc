// Graphs on the stand-in: a step that breaks a rule is an error.
#include "backends/testing/standin/standin_graph.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backends/own_stream.h"
#include "backends/step_graph.h"
#include "backends/testing/standin/standin.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StandInGraphTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { RegisterStandIn(); }
  void SetUp() override {
    stream_.emplace(StandInDevice());
    ResetStandInCounts();
  }
  void TearDown() override {
    stream_.reset();
    EXPECT_THAT(TakeStandInErrors(), IsEmpty());
  }

  static c10::impl::VirtualGuardImpl Guard() {
    return c10::impl::VirtualGuardImpl(StandInDevice().type());
  }
  static c10::Stream Current() { return Guard().getStream(StandInDevice()); }
  static c10::Stream Side() { return Guard().getNewStream(StandInDevice()); }

  // What is wrong with capturing the step.
  static std::string ErrorOf(const std::function<void()>& step) {
    try {
      MakeStepGraph(StandInDevice())->Capture([&] { step(); });
    } catch (const c10::Error& e) {
      return e.what_without_backtrace();
    }
    return "accepted";
  }
  static std::string ErrorOfReplay(StepGraph& graph) {
    try {
      graph.Replay();
    } catch (const c10::Error& e) {
      return e.what_without_backtrace();
    }
    return "accepted";
  }

  std::optional<OwnStream> stream_;
};

TEST_F(StandInGraphTest, ExampleOfTheHeader) {
  const at::Tensor x = at::ones({2}, StandInDevice());
  const auto graph = MakeStandInGraph(StandInDevice());
  graph->Capture([&] { x.mul_(2); });
  graph->Replay();
  EXPECT_EQ(x.sum().item<double>(), 4);
}

TEST_F(StandInGraphTest, TheHostMustNotReadOrWait) {
  const at::Tensor x = at::ones({4}, StandInDevice());
  const at::Tensor pinned = at::ones({4}).pin_memory();
  c10::Event event(StandInDevice().type());
  event.record(Current());
  EXPECT_THAT(ErrorOf([&] { x.sum().item<double>(); }),
              AllOf(HasSubstr("_local_scalar_dense"),
                    HasSubstr("while a graph is captured")));
  EXPECT_THAT(ErrorOf([&] { x.cpu(); }), HasSubstr("copy to the host"));
  EXPECT_THAT(ErrorOf([&] { x.copy_(at::ones({4})); }),
              HasSubstr("memory not page-locked"));
  EXPECT_THAT(ErrorOf([&] { x.nonzero(); }), HasSubstr("aten::nonzero"));
  EXPECT_THAT(ErrorOf([&] { Guard().synchronizeStream(Current()); }),
              HasSubstr("synchronizeStream"));
  EXPECT_THAT(ErrorOf([&] { Guard().synchronizeDevice(0); }),
              HasSubstr("synchronizeDevice"));
  EXPECT_THAT(ErrorOf([&] { event.synchronize(); }),
              HasSubstr("synchronizeEvent"));
  EXPECT_THAT(ErrorOf([&] { event.query(); }), HasSubstr("query"));
  EXPECT_EQ(ErrorOf([&] { x.copy_(pinned, /*non_blocking=*/true); }),
            "accepted");
  // Another thread may wait for what is not captured.
  EXPECT_EQ(ErrorOf([&] { std::thread([&] { event.synchronize(); }).join(); }),
            "accepted");
}

TEST_F(StandInGraphTest, NumbersOnTheHostAreThoseOfTheCapture) {
  const at::Tensor x = at::zeros({1}, StandInDevice());
  at::Tensor rate = at::scalar_tensor(1.0);
  const auto graph = MakeStepGraph(StandInDevice());
  graph->Capture([&] { x.add_(rate); });
  rate.fill_(100);
  graph->Replay();
  EXPECT_EQ(x.item<double>(), 1);
}

TEST_F(StandInGraphTest, MemoryFromOutsideMustStay) {
  const at::Tensor x = at::zeros({1}, StandInDevice());
  at::Tensor input = at::ones({1}, StandInDevice());
  at::Tensor host = at::ones({1}).pin_memory();
  const auto graph = MakeStepGraph(StandInDevice());
  graph->Capture([&] { x.add_(input.mul(2)); });
  const auto copying = MakeStepGraph(StandInDevice());
  copying->Capture([&] { x.copy_(host, /*non_blocking=*/true); });
  graph->Replay();
  copying->Replay();
  input = at::ones({1}, StandInDevice());
  EXPECT_THAT(ErrorOfReplay(*graph),
              AllOf(HasSubstr("aten::mul of the graph uses block"),
                    HasSubstr("which was freed after the capture")));
  host.reset();
  EXPECT_THAT(ErrorOfReplay(*copying), HasSubstr("the copy to the device"));
}

TEST_F(StandInGraphTest, MemoryOfTheGraphIsItsOwn) {
  const at::Tensor x = at::ones({1024}, StandInDevice());
  at::Tensor kept;
  auto graph = MakeStepGraph(StandInDevice());
  const int64_t before = StandInCounts().peak_bytes;
  graph->Capture([&] { kept = x.mul(2).add(1); });
  // Computed by no one yet.
  EXPECT_TRUE(kept.isnan().all().item<bool>());
  // More than the stand-in keeps from being used again.
  std::vector<at::Tensor> eager;
  for (int i = 0; i < 300; ++i) {
    at::full({1024}, 7.0, StandInDevice());
    if (i % 10 == 0) eager.push_back(at::full({1024}, 7.0, StandInDevice()));
  }
  graph->Replay();
  EXPECT_EQ(kept.sum().item<double>(), 3 * 1024);
  for (const at::Tensor& tensor : eager) {
    ASSERT_EQ(tensor.sum().item<double>(), 7 * 1024);
  }
  eager.clear();
  // The graph has the sum and the product, also while nothing uses them.
  ResetStandInCounts();
  EXPECT_GE(StandInCounts().peak_bytes, before + 2 * 4096);
  graph.reset();
  EXPECT_EQ(kept.sum().item<double>(), 3 * 1024);
  kept.reset();
  ResetStandInCounts();
  EXPECT_EQ(StandInCounts().peak_bytes, before);
}

TEST_F(StandInGraphTest, MemoryOfTheGraphDoesNotOutliveAReplay) {
  const at::Tensor sum = at::zeros({1}, StandInDevice());
  const auto graph = MakeStepGraph(StandInDevice());
  // Reads what an earlier replay would have left.
  graph->Capture([&] { sum.add_(at::empty({1}, StandInDevice()).fill_(1)); });
  const auto broken = MakeStepGraph(StandInDevice());
  broken->Capture([&] {
    const at::Tensor state = at::empty({1}, StandInDevice());
    sum.add_(state);
    state.fill_(1);
  });
  graph->Replay();
  graph->Replay();
  EXPECT_EQ(sum.item<double>(), 2);
  broken->Replay();
  sum.fill_(0);
  broken->Replay();
  EXPECT_TRUE(sum.isnan().item<bool>());
}

TEST_F(StandInGraphTest, StreamsJoinByEvents) {
  const at::Tensor x = at::ones({4}, StandInDevice());
  at::Tensor y;
  const c10::Stream side = Side();
  const auto on_side = [&](bool wait, bool join) {
    c10::Event ready(StandInDevice().type()), done(StandInDevice().type());
    if (wait) {
      ready.record(Current());
      ready.block(side);
    }
    {
      const c10::StreamGuard guard(side);
      y = x.add(1);
      done.record(side);
    }
    if (join) done.block(Current());
  };
  EXPECT_THAT(ErrorOf([&] { on_side(false, true); }),
              AllOf(HasSubstr("aten::add is on stream"),
                    HasSubstr("would not be in the graph")));
  EXPECT_THAT(ErrorOf([&] { on_side(true, false); }),
              HasSubstr("does not wait for it before the capture ends"));
  const auto graph = MakeStepGraph(StandInDevice());
  graph->Capture([&] { on_side(true, true); });
  graph->Replay();
  EXPECT_EQ(y.sum().item<double>(), 8);
}

TEST_F(StandInGraphTest, EventsDoNotCrossACapture) {
  c10::Event outside(StandInDevice().type()), inside(StandInDevice().type());
  outside.record(Guard().getDefaultStream(StandInDevice()));
  EXPECT_THAT(ErrorOf([&] { outside.block(Current()); }),
              HasSubstr("an event from outside of the graph"));
  MakeStepGraph(StandInDevice())->Capture([&] { inside.record(Current()); });
  EXPECT_THROW(inside.block(Current()), c10::Error);
  EXPECT_THROW(inside.synchronize(), c10::Error);
}

TEST_F(StandInGraphTest, AReplayIsWorkOfItsStream) {
  const at::Tensor x = at::zeros({4}, StandInDevice());
  const auto graph = MakeStepGraph(StandInDevice());
  graph->Capture([&] { x.add_(1); });
  EXPECT_THAT(TakeStandInErrors(), IsEmpty());
  {
    const c10::StreamGuard guard(Side());
    graph->Replay();  // did not wait for the zeros
  }
  EXPECT_THAT(TakeStandInErrors(),
              ElementsAre(HasSubstr("race: aten::add on")));
  Guard().synchronizeDevice(0);
}

TEST_F(StandInGraphTest, NobodyNeedsToWaitForACapture) {
  const at::Tensor x = at::zeros({4}, StandInDevice());
  c10::Event ready(StandInDevice().type());
  const c10::Stream first = Side(), second = Side();
  ready.record(Current());
  ready.block(first);
  ready.block(second);
  const auto graph = MakeStepGraph(StandInDevice());
  {
    const c10::StreamGuard guard(first);
    graph->Capture([&] { x.add_(1); });
  }
  {
    const c10::StreamGuard guard(second);
    graph->Replay();
  }
  EXPECT_THAT(TakeStandInErrors(), IsEmpty());
  Guard().synchronizeDevice(0);
}

TEST_F(StandInGraphTest, AReplayMustNotOverwriteWhatOthersStillRead) {
  const at::Tensor x = at::ones({4}, StandInDevice());
  at::Tensor kept;
  const auto graph = MakeStepGraph(StandInDevice());
  graph->Capture([&] { kept = x.mul(2); });
  graph->Replay();
  const c10::Stream side = Side();
  c10::Event replayed(StandInDevice().type()), read(StandInDevice().type());
  replayed.record(Current());
  replayed.block(side);
  at::Tensor sum;
  {
    const c10::StreamGuard guard(side);
    sum = kept.sum();
    read.record(side);
  }
  graph->Replay();
  EXPECT_THAT(TakeStandInErrors(),
              ElementsAre(AllOf(HasSubstr("race: aten::mul"),
                                HasSubstr("which aten::sum"))));
  read.block(Current());
  graph->Replay();
  Guard().synchronizeDevice(0);
}

TEST_F(StandInGraphTest, OnlyTheDefaultGeneratorAdvances) {
  at::Generator own =
      at::globalContext().getAcceleratorHooksInterface().getNewGenerator(0);
  EXPECT_THAT(
      ErrorOf([&] { at::rand({2}, own, at::TensorOptions(StandInDevice())); }),
      HasSubstr("has a generator of its own"));
}

TEST_F(StandInGraphTest, TheDefaultStreamIsNotCaptured) {
  const c10::StreamGuard guard(Guard().getDefaultStream(StandInDevice()));
  EXPECT_THAT(ErrorOf([] {}), HasSubstr("the default stream"));
}

TEST_F(StandInGraphTest, CapturesDoNotNest) {
  const auto graph = MakeStepGraph(StandInDevice());
  graph->Capture([] {});
  EXPECT_THAT(ErrorOf([&] { graph->Replay(); }),
              HasSubstr("is replayed while"));
  EXPECT_EQ(ErrorOf([] {
              EXPECT_THAT(ErrorOf([] {}), HasSubstr("captured already"));
            }),
            "accepted");
}

}  // namespace
}  // namespace trainyard

#include "callbacks/printing/progress_display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>
#include <stdexcept>

#include "tools/testing/memory_output.h"

namespace trainyard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ProgressDisplayTest : public ::testing::Test {
 protected:
  ProgressDisplayTest() { setenv("LC_ALL", "C", 1); }

  ProgressDisplayOptions Plain() {
    return {.output = output_.file(), .clock = [this] { return now_; }};
  }
  ProgressDisplayOptions Terminal() {
    ProgressDisplayOptions options = Plain();
    options.force_terminal = true;
    return options;
  }

  std::string Written() { return output_.Written(); }

  // Counts batches of 10 samples, each `seconds` long; returns how many were
  // shown.
  int Run(ProgressDisplay& display, int batches, double seconds) {
    int shown = 0;
    for (int i = 0; i < batches; ++i) {
      now_ += seconds;
      if (!display.Count(10)) continue;
      display.Show({{"loss", 0.5}});
      ++shown;
    }
    return shown;
  }

  double now_ = 1000;
  MemoryOutput output_;
};

TEST_F(ProgressDisplayTest, HeaderExample) {
  ProgressDisplay display;
  display.Begin("Epoch 1/5", /*done=*/0, /*total=*/469);
  if (display.Count(/*samples=*/128)) display.Show({{"loss", 0.5}});
  display.Finish({{"loss", 0.5}});
}

TEST_F(ProgressDisplayTest, DrawsOverItsOwnLine) {
  ProgressDisplay display(Terminal());
  display.Begin("Epoch 1/2", 0, 4);
  EXPECT_THAT(Written(), StartsWith("\rEpoch 1/2   0%"));
  now_ += 1;
  ASSERT_TRUE(display.Count(10));
  display.Show({{"loss", 0.5}});
  EXPECT_EQ(Written(),
            "\rEpoch 1/2  25% [####............]  1/4  10.0 samples/s  "
            "ETA 0:03  loss 0.5000\x1b[K");
}

TEST_F(ProgressDisplayTest, DrawsAtMostTenTimesASecond) {
  ProgressDisplay display(Terminal());
  display.Begin("Epoch 1/1", 0, 100000);
  // Five seconds of 5,000 steps each; a little less than 50 for steps that
  // overshoot.
  EXPECT_THAT(Run(display, 25000, 0.0002),
              ::testing::AllOf(::testing::Ge(48), ::testing::Le(50)));
}

TEST_F(ProgressDisplayTest, ShortPassesAreNotDrawnMoreOften) {
  ProgressDisplay display(Terminal());
  display.Begin("Epoch 1/2", 0, 1);
  display.Finish({});
  Written();
  display.Begin("Epoch 2/2", 0, 1);
  EXPECT_EQ(Written(), "");
}

TEST_F(ProgressDisplayTest, ErasesTheLineAtTheEnd) {
  ProgressDisplay display(Terminal());
  display.Begin("Epoch 1/1", 0, 2);
  Written();
  display.Finish({});
  EXPECT_EQ(Written(), "\r\x1b[K");
}

TEST_F(ProgressDisplayTest, KeepsTheLineIfAskedTo) {
  ProgressDisplayOptions options = Terminal();
  options.keep = true;
  ProgressDisplay display(options);
  display.Begin("Epoch 1/1", 0, 2);
  Run(display, 2, 0.01);
  Written();
  display.Finish({{"loss", 0.25}});
  EXPECT_THAT(Written(), ::testing::AllOf(HasSubstr("100%"),
                                          EndsWith("loss 0.2500\x1b[K\n")));
}

TEST_F(ProgressDisplayTest, LeavingErasesOnce) {
  ProgressDisplay display(Terminal());
  display.Begin("Epoch 1/1", 0, 2);
  Written();
  display.Leave();
  EXPECT_EQ(Written(), "\r\x1b[K");
  display.Leave();
  display.Finish({});
  EXPECT_EQ(Written(), "");
}

TEST_F(ProgressDisplayTest,
       PlainLinesAreAtMostTenPerPassAndHaveNoControlCharacters) {
  ProgressDisplay display(Plain());
  display.Begin("Epoch 1/1", 0, 1003);
  EXPECT_EQ(Run(display, 1003, 1), 9);
  display.Finish({{"loss", 0.25}});
  const std::string text = Written();
  EXPECT_THAT(text, StartsWith("Epoch 1/1: 101/1003 batches (10%), 10.0 "
                               "samples/s, ETA 15:02, loss 0.5000\n"));
  EXPECT_THAT(text, EndsWith("Epoch 1/1: 1003/1003 batches (100%), 10.0 "
                             "samples/s, in 16:43, loss 0.2500\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(ProgressDisplayTest, APassOfSecondsGetsOnePlainLine) {
  ProgressDisplay display(Plain());
  display.Begin("Epoch 1/1", 0, 100);
  EXPECT_EQ(Run(display, 100, 0.05), 0);
  display.Finish({});
  EXPECT_EQ(Written(),
            "Epoch 1/1: 100/100 batches (100%), 200 samples/s, in 0:05\n");
}

TEST_F(ProgressDisplayTest, LeavingAPassShowsItsProgress) {
  ProgressDisplay display(Plain());
  display.Begin("Epoch 1/1", 0, 100);
  Run(display, 40, 0.1);
  display.Leave();
  EXPECT_EQ(Written(),
            "Epoch 1/1: 40/100 batches (40%), 100 samples/s, ETA 0:06\n");
}

TEST_F(ProgressDisplayTest, OuterPassContinuesAfterAnInnerOne) {
  ProgressDisplay display(Plain());
  display.Begin("Epoch 1/1", 0, 100);
  Run(display, 50, 0.1);
  display.Begin("eval", 0, 10);
  Run(display, 10, 0.5);
  display.Finish({});
  EXPECT_EQ(Written(), "eval: 10/10 batches (100%), 20.0 samples/s, in 0:05\n");
  Run(display, 50, 0.1);
  display.Finish({});
  // Ten seconds of its own.
  EXPECT_THAT(
      Written(),
      EndsWith("Epoch 1/1: 100/100 batches (100%), 100 samples/s, in 0:10\n"));
}

TEST_F(ProgressDisplayTest, LeavingLeavesAllPasses) {
  ProgressDisplay display(Plain());
  display.Begin("Epoch 1/1", 0, 100);
  display.Begin("eval", 0, 10);
  display.Leave();
  EXPECT_THAT(Written(), ::testing::AllOf(StartsWith("eval: 0/10"),
                                          HasSubstr("\nEpoch 1/1: 0/100")));
  EXPECT_FALSE(display.Count(10));
}

TEST_F(ProgressDisplayTest, ResumedPassIsTimedFromItsResume) {
  ProgressDisplay display(Plain());
  display.Begin("Epoch 1/1", 300, 400);
  Run(display, 50, 0.1);
  display.Leave();
  EXPECT_THAT(Written(),
              HasSubstr("350/400 batches (87%), 100 samples/s, ETA 0:05"));
}

TEST_F(ProgressDisplayTest, RefusesBadOptionsByName) {
  const auto message = [&](auto change) -> std::string {
    ProgressDisplayOptions options = Plain();
    change(options);
    try {
      ProgressDisplay display(options);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message([](auto& o) { o.output = nullptr; }),
              HasSubstr("output is null"));
  EXPECT_THAT(message([](auto& o) { o.clock = nullptr; }),
              HasSubstr("clock is empty"));
  EXPECT_THAT(message([](auto& o) { o.redraw_seconds = -1; }),
              HasSubstr("redraw_seconds is -1"));
  EXPECT_THAT(message([](auto& o) {
                o.line_seconds = std::numeric_limits<double>::quiet_NaN();
              }),
              HasSubstr("line_seconds is"));
}

}  // namespace
}  // namespace trainyard

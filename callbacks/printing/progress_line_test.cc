#include "callbacks/printing/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgressLine HalfWay() {
  return {.label = "Epoch 2/5",
          .done = 203,
          .total = 469,
          .seconds = 3.2,
          .samples_per_second = 8200,
          .values = {{"loss", 0.4123}, {"accuracy", 0.875}}};
}

size_t Columns(const std::string& text) {
  size_t columns = 0;
  for (const char c : text)
    columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

TEST(ProgressLineTest, HeaderExample) {
  ProgressLine line = HalfWay();
  line.values.pop_back();
  EXPECT_EQ(DrawBar(line, {.width = 74}),
            "Epoch 2/5  43% |███▍    |  203/469  8.20k samples/s  "
            "ETA 0:04  loss 0.4123");
  EXPECT_EQ(DescribeProgress(line),
            "Epoch 2/5: 203/469 batches (43%), 8.20k samples/s, ETA 0:04, loss "
            "0.4123");
}

TEST(ProgressLineTest, IsNeverWiderThanAskedAndFillsWhatItCan) {
  for (int width = 0; width < 120; ++width) {
    EXPECT_LE(Columns(DrawBar(HalfWay(), {.width = width})), width);
    EXPECT_EQ(Columns(DrawBar(HalfWay(), {.width = width})),
              Columns(DrawBar(HalfWay(), {.width = width, .utf8 = false})));
  }
  EXPECT_EQ(Columns(DrawBar(HalfWay(), {.width = 100})), 100);
}

TEST(ProgressLineTest, LeavesOutTheLeastImportantFirst) {
  const auto draw = [](int width) {
    return DrawBar(HalfWay(), {.width = width});
  };
  EXPECT_THAT(draw(100), HasSubstr("accuracy 0.8750"));
  EXPECT_THAT(draw(79), Not(HasSubstr("accuracy")));
  EXPECT_THAT(draw(79), HasSubstr("samples/s"));
  EXPECT_THAT(draw(60), Not(HasSubstr("samples/s")));
  EXPECT_THAT(draw(60), HasSubstr("loss 0.4123"));
  EXPECT_THAT(draw(45), Not(HasSubstr("loss")));
  EXPECT_THAT(draw(45), HasSubstr("█"));
  EXPECT_EQ(draw(37), "Epoch 2/5  43%  203/469  ETA 0:04");
  EXPECT_EQ(draw(15), "Epoch 2/5  43%");
  EXPECT_EQ(draw(5), "Epoch");
}

TEST(ProgressLineTest, BarsAreFullAtTheEndAndEmptyAtTheStart) {
  ProgressLine line{.label = "eval", .done = 0, .total = 4};
  EXPECT_EQ(DrawBar(line, {.width = 49, .utf8 = false}),
            "eval   0% [.........]  0/4  - samples/s  ETA -:--");
  line.done = 2;
  line.seconds = 3;
  EXPECT_THAT(DrawBar(line, {.width = 49, .utf8 = false}),
              HasSubstr("50% [####.....]"));
  line.done = 4;
  EXPECT_EQ(DrawBar(line, {.width = 49, .utf8 = false}),
            "eval 100% [##########]  4/4  - samples/s  in 0:03");
}

TEST(ProgressLineTest, TheTimeLeftFollowsFromWhatWasTimed) {
  // Resumed at 300 of 400: 50 took 10 s, 50 are left.
  const ProgressLine line{.label = "Epoch 1/1",
                          .done = 350,
                          .total = 400,
                          .seconds = 10,
                          .timed = 50};
  EXPECT_THAT(DescribeProgress(line), HasSubstr("ETA 0:10"));
}

TEST(ProgressLineTest, APassWithoutBatchesIsDone) {
  EXPECT_EQ(DescribeProgress({.label = "eval"}),
            "eval: 0/0 batches (100%), in 0:00");
}

TEST(ProgressLineTest, OnlyTheLastBatchMakesAHundredPercent) {
  EXPECT_THAT(DescribeProgress({.label = "x", .done = 9999, .total = 10000}),
              HasSubstr("(99%)"));
}

TEST(ProgressLineTest, UnknownTotalShowsTheCountOnly) {
  const ProgressLine line{.label = "Epoch 2",
                          .done = 203,
                          .total = std::nullopt,
                          .seconds = 3.2,
                          .samples_per_second = 8200,
                          .values = {{"loss", 0.4123}}};
  EXPECT_EQ(DrawBar(line, {.width = 74}),
            "Epoch 2  203 batches  8.20k samples/s  in 0:03  loss 0.4123");
  EXPECT_EQ(DescribeProgress(line),
            "Epoch 2: 203 batches, 8.20k samples/s, in 0:03, loss 0.4123");
}

}  // namespace
}  // namespace trainyard

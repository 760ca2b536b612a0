#include "callbacks/printing/late_values.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/testing/standin/standin.h"
#include "callbacks/printing/progress_display.h"
#include "trainer/accelerator.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(LateValuesTest, HeaderExample) {
  ProgressDisplay display;
  display.Begin("Epoch 1/5", 0, 1);
  const at::Tensor loss = at::full({}, 0.5);
  LateValues late;
  late.Start({{"loss", loss}});
  if (const auto values = late.Take()) display.Show(*values);
  display.Leave();
}

TEST(LateValuesTest, ReadsTheNumbersOfTheStepThatStartedIt) {
  const at::Tensor loss = at::full({}, 0.5, DefaultDevice());
  LateValues late;
  late.Start({{"loss", loss}, {"rows", at::ones({3}, DefaultDevice())}});
  loss.fill_(7);
  // The work of the next steps; a wait would be a mistake.
  std::optional<LateValues::Values> values;
  for (int step = 0; step < 1000 && !(values = late.Take()); ++step) {
    loss.add_(1);
  }
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, ElementsAre(Pair("loss", 0.5)));
  EXPECT_EQ(late.Take(), std::nullopt);
}

TEST(LateValuesTest, ADeviceIsNotWaitedFor) {
  if (!StandInIsRegistered()) GTEST_SKIP() << "only the stand-in counts";
  const at::Tensor loss = at::full({}, 0.5, DefaultDevice());
  ResetStandInCounts();
  LateValues late;
  late.Start({{"loss", loss}});
  EXPECT_EQ(late.Take(), std::nullopt);  // not yet there
  late.Start({{"other", loss}});         // one at a time
  for (int i = 0; i < 5; ++i) loss.add_(1);
  EXPECT_THAT(late.Take().value(), ElementsAre(Pair("loss", 0.5)));
  EXPECT_THAT(StandInSynchronizations(), IsEmpty());
  EXPECT_EQ(StandInCounts().copies_to_host, 1);
}

TEST(LateValuesTest, DroppedNumbersNeverArrive) {
  LateValues late;
  late.Start({{"loss", at::full({}, 0.5)}});
  late.Drop();
  EXPECT_EQ(late.Take(), std::nullopt);
}

}  // namespace
}  // namespace trainyard

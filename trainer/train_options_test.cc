// The numbers that follow from the options of a run, and that the run and its
// schedules are given.
#include "trainer/train_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "backends/make_backend.h"
#include "schedulers/constant.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

TEST(TrainOptionsTest, HeaderExample) {
  const auto backend = MakeBackend("sp");
  const DatasetPtr train = LinePoints(3752);
  TrainOptions options{.data = train, .length = Epochs(5)};
  const RunConfig config = MakeRunConfig(options, *backend, {.train = 469});
  EXPECT_EQ(config.backend, "sp");
  EXPECT_EQ(config.device, backend->device().str());
  EXPECT_EQ(config.num_processes, 1);
  EXPECT_EQ(config.batches_per_epoch, 469);
  EXPECT_EQ(config.updates_per_epoch, 469);
  EXPECT_EQ(config.total_updates, 5 * 469);
  EXPECT_EQ(config.eval_batches, 0);
}

// The configuration that the callbacks of a real run are told.
RunConfig ConfigOf(const TrainOptions& options) {
  LineRig rig;
  RunConfig config;
  rig.trainer().Add(
      On<RunStart>([&](const RunStart& e, Control&) { config = e.config; }));
  rig.trainer().Add(On<EpochStart>([&](const EpochStart& e, Control&) {
    EXPECT_EQ(e.config.ToString(), config.ToString());
  }));
  rig.trainer().Train(options);
  return config;
}

TEST(TrainOptionsTest, ARunsConfigurationIsWhatItDoes) {
  const RunConfig config = ConfigOf({.data = LinePoints(50),
                                     .eval_data = LinePoints(10),
                                     .eval_sets = {{"rare", LinePoints(7)}},
                                     .length = Epochs(3),
                                     .per_device_batch_size = 6,
                                     .max_micro_batch_size = 3,
                                     .grad_accum_steps = 2,
                                     .clip = ClipNorm(2),
                                     .eval_per_device_batch_size = 4,
                                     .seed = 9});
  EXPECT_EQ(config.num_epochs, 3);
  EXPECT_EQ(config.seed, 9);
  EXPECT_EQ(config.per_device_batch_size, 3);
  EXPECT_EQ(config.grad_accum_steps, 4);
  EXPECT_EQ(config.total_batch_size, 12);
  EXPECT_EQ(config.eval_per_device_batch_size, 4);
  EXPECT_EQ(config.eval_total_batch_size, 4);
  EXPECT_EQ(config.batches_per_epoch, 17);  // 50 in threes
  EXPECT_EQ(config.updates_per_epoch, 5);   // 17 in fours
  EXPECT_EQ(config.total_updates, 15);
  EXPECT_EQ(config.eval_batches, 3 + 2);
  EXPECT_EQ(config.clip, "norm 2");
}

TEST(TrainOptionsTest, TheFirstLimitThatIsReachedCounts) {
  const auto limits = [](Duration length, std::optional<Duration> at_most,
                         std::optional<int64_t> max_batches = std::nullopt) {
    const RunConfig config = ConfigOf({.data = LinePoints(20),
                                       .length = length,
                                       .at_most = at_most,
                                       .per_device_batch_size = 4,
                                       .max_batches_per_epoch = max_batches});
    return std::vector<int64_t>{config.num_epochs.value(), config.total_updates,
                                config.batches_per_epoch.value()};
  };
  EXPECT_THAT(limits(Epochs(2), std::nullopt), ElementsAre(2, 10, 5));
  EXPECT_THAT(limits(Updates(7), std::nullopt), ElementsAre(2, 7, 5));
  EXPECT_THAT(limits(Epochs(2), Updates(7)), ElementsAre(2, 7, 5));
  EXPECT_THAT(limits(Epochs(1), Updates(7)), ElementsAre(1, 5, 5));
  EXPECT_THAT(limits(Updates(7), Epochs(1)), ElementsAre(1, 5, 5));
  EXPECT_THAT(limits(Epochs(3), Epochs(1)), ElementsAre(1, 5, 5));
  EXPECT_THAT(limits(Epochs(3), std::nullopt, 2), ElementsAre(3, 6, 2));
}

TEST(TrainOptionsTest, AFractionOfAnEpochIsRoundedToUpdates) {
  const auto updates = [](double epochs) {
    return ConfigOf({.data = LinePoints(20),
                     .length = Epochs(epochs),
                     .per_device_batch_size = 4})
        .total_updates;
  };
  EXPECT_EQ(updates(0.01), 1);
  EXPECT_EQ(updates(0.5), 3);  // of 2.5
  EXPECT_EQ(updates(1.4), 7);
}

// Nobody who is told of a run can change how it was configured.
TEST(TrainOptionsTest, TheConfigurationCannotBeChanged) {
  static_assert(std::is_same_v<decltype(RunStart::config), const RunConfig&>);
  static_assert(std::is_same_v<decltype(EpochStart::config), const RunConfig&>);
}

// The lengths that a schedule's factory is given, as the run found them out:
// also those of the loaders.
TEST(TrainOptionsTest, FactoriesGetTheLengthsOfTheRun) {
  LineRig rig;
  RunLength length;
  rig.trainer().Train({.data = LinePoints(50),
                       .eval_data = LinePoints(10),
                       .eval_sets = {{"rare", LinePoints(7)}},
                       .length = Epochs(3),
                       .per_device_batch_size = 6,
                       .grad_accum_steps = 2,
                       .schedule = ScheduleFactory([&](const RunLength& run) {
                         length = run;
                         return Constant()(run);
                       }),
                       .eval_per_device_batch_size = 4});
  EXPECT_EQ(length.num_epochs, 3);
  EXPECT_EQ(length.batches_per_epoch, 9);
  EXPECT_EQ(length.updates_per_epoch, 5);
  EXPECT_EQ(length.total_updates, 15);
  EXPECT_EQ(length.eval_batches, 5);
}

}  // namespace
}  // namespace trainyard

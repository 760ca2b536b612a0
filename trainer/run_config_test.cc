#include "trainer/run_config.h"

#include <gtest/gtest.h>

#include <map>

namespace trainyard {
namespace {

TEST(RunConfigTest, ToStringNamesEveryField) {
  const RunConfig config{.backend = "sp",
                         .device = "cpu",
                         .num_processes = 2,
                         .seed = 3,
                         .num_epochs = 4,
                         .per_device_batch_size = 5,
                         .eval_per_device_batch_size = 6,
                         .grad_accum_steps = 7,
                         .total_batch_size = 70,
                         .eval_total_batch_size = 12,
                         .batches_per_epoch = 9,
                         .eval_batches = 2,
                         .updates_per_epoch = 10,
                         .total_updates = 11,
                         .clip = "norm 1",
                         .evaluate = "every 1 epoch",
                         .checkpoint = "never",
                         .report = "every 100 batches",
                         .loader = "workers 2",
                         .eval_loader = "workers 0"};
  EXPECT_EQ(config.ToString(),
            "backend: sp\n"
            "device: cpu\n"
            "num_processes: 2\n"
            "seed: 3\n"
            "num_epochs: 4\n"
            "per_device_batch_size: 5\n"
            "eval_per_device_batch_size: 6\n"
            "grad_accum_steps: 7\n"
            "total_batch_size: 70\n"
            "eval_total_batch_size: 12\n"
            "batches_per_epoch: 9\n"
            "eval_batches: 2\n"
            "updates_per_epoch: 10\n"
            "total_updates: 11\n"
            "clip: norm 1\n"
            "evaluate: every 1 epoch\n"
            "checkpoint: never\n"
            "report: every 100 batches\n"
            "loader: workers 2\n"
            "eval_loader: workers 0\n");
}

TEST(RunConfigTest, UnsetNumbersAreUnknown) {
  RunConfig config;
  EXPECT_NE(config.ToString().find("num_epochs: unlimited\n"),
            std::string::npos);
  EXPECT_NE(config.ToString().find("batches_per_epoch: unknown\n"),
            std::string::npos);
  EXPECT_EQ(config.EpochLabel(0), "1");
  config.num_epochs = 5;
  EXPECT_EQ(config.EpochLabel(0), "1/5");
}

TEST(RunConfigTest, DifferencesNameTheFieldAndBothValues) {
  const RunConfig before{.num_epochs = 3, .clip = "none"};
  RunConfig now = before;
  std::map<std::string, std::string> saved;
  for (const auto& [name, value] : before.Fields()) saved[name] = value;
  EXPECT_TRUE(Differences(now, saved).empty());
  now.num_epochs = 5;
  now.clip = "norm 1";
  EXPECT_EQ(Differences(now, saved),
            (std::vector<std::string>{"num_epochs is 5, was 3",
                                      "clip is norm 1, was none"}));
  saved.erase("clip");  // of a version that did not have it
  EXPECT_EQ(Differences(now, saved),
            (std::vector<std::string>{"num_epochs is 5, was 3"}));
}

}  // namespace
}  // namespace trainyard

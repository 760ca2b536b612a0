#include "trainer/run_config.h"

#include <gtest/gtest.h>

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
                         .batches_per_epoch = 9,
                         .updates_per_epoch = 10,
                         .max_updates = 11};
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
            "batches_per_epoch: 9\n"
            "updates_per_epoch: 10\n"
            "max_updates: 11\n");
}

}  // namespace
}  // namespace trainyard

// Callbacks that print do so on one rank of each machine: two machines of two
// ranks each.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "backends/make_backend.h"
#include "callbacks/printing/epoch_table.h"
#include "callbacks/printing/log_metrics.h"
#include "callbacks/printing/print_progress.h"
#include "callbacks/printing/progress_bar.h"
#include "tools/launch/testing/test_rank.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

Backend& Ddp() {
  static const std::unique_ptr<Backend> backend = [] {
    setenv("LOCAL_RANK", std::to_string(TestRank() % 2).c_str(), 1);
    setenv("LOCAL_WORLD_SIZE", "2", 1);
    setenv("GLOO_SOCKET_IFNAME", "lo", 1);
    return MakeBackend("ddp", {.device = at::Device(TestDevice())});
  }();
  return *backend;
}

// Bytes that a callback prints in a run and an evaluation.
int64_t Printed(const std::function<void(Trainer&, std::FILE*)>& add) {
  std::FILE* const file = std::tmpfile();
  LineRig rig(/*lr=*/0.1, &Ddp());
  add(rig.trainer(), file);
  rig.trainer().Train({.data = LinePoints(16),
                       .eval_data = LinePoints(8),
                       .length = Epochs(2),
                       .per_device_batch_size = 2});
  rig.trainer().Evaluate(LinePoints(8), 2);
  const int64_t bytes = std::ftell(file);
  std::fclose(file);
  return bytes;
}

void ExpectOncePerNode(
    const std::function<void(Trainer&, std::FILE*, bool every_rank)>& add) {
  for (const bool every_rank : {false, true}) {
    const int64_t bytes = Printed([&](Trainer& trainer, std::FILE* file) {
      add(trainer, file, every_rank);
    });
    EXPECT_EQ(bytes > 0, every_rank || TestRank() % 2 == 0) << every_rank;
  }
}

TEST(OncePerNodeTest, ProgressBar) {
  ExpectOncePerNode([](Trainer& trainer, std::FILE* file, bool every_rank) {
    trainer.Add(ProgressBar(
        {.output = file, .force_terminal = true, .every_rank = every_rank}));
  });
}

TEST(OncePerNodeTest, EpochTable) {
  ExpectOncePerNode([](Trainer& trainer, std::FILE* file, bool every_rank) {
    trainer.Add(EpochTable({.output = file, .every_rank = every_rank}));
  });
}

TEST(OncePerNodeTest, PrintProgress) {
  ExpectOncePerNode([](Trainer& trainer, std::FILE* file, bool every_rank) {
    trainer.Add(PrintProgress({.output = file, .every_rank = every_rank}));
  });
}

TEST(OncePerNodeTest, LogMetrics) {
  ExpectOncePerNode([](Trainer& trainer, std::FILE* file, bool every_rank) {
    trainer.Add(LogMetrics({.log =
                                [file](int64_t epoch, const Metrics&) {
                                  std::fprintf(file, "%d", int(epoch));
                                },
                            .every_rank = every_rank}));
  });
}

}  // namespace
}  // namespace trainyard

// A run that was saved by any backend, on any number of ranks, resumes on any
// other: equal weights and state; to the bit on the same number of ranks.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/processes/run_ranks.h"
#include "backends/whole_parameters.h"
#include "callbacks/recording/gradient_norm_monitor.h"
#include "trainer/checkpoint/store.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/loop/held_tensors.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::IsEmpty;

struct Launch {
  std::string backend;
  int64_t ranks = 1;
};

std::string ToString(const Launch& launch) {
  return launch.backend + " on " + std::to_string(launch.ranks);
}

// 24 inputs, 3 outputs: on four ranks slices of 32, 32, 8 and no elements.
DatasetPtr Waves() {
  const at::Tensor x = at::arange(24 * 24, at::kFloat).sin().reshape({24, 24});
  return MakeTensorDataset(Example{x, x.narrow(1, 0, 3).mul(2)});
}

struct Run {
  std::string directory;
  std::optional<std::string> resume_path = std::nullopt;
  int64_t epochs = 2;
  int64_t stop_at = -1;  // after this many batches
};

// What a run ends with: the parameters, and the differences between the state
// on a rank and the checkpoint that it resumed from.
struct Outcome {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> differences;
  std::vector<double> gradient_norms;
};

// The tensors of `held` that differ from the saved ones.
std::vector<std::string> Differences(const HeldTensors& held,
                                     const std::vector<NamedTensor>& saved) {
  std::vector<std::string> different;
  size_t found = 0;
  for (const NamedTensor& item : saved) {
    for (const NamedTensor& own : held.whole) {
      if (own.name != item.name) continue;
      ++found;
      if (!own.tensor.equal(item.tensor)) different.push_back(item.name);
    }
    for (const TensorSlice& own : held.slices) {
      if (own.name != item.name) continue;
      ++found;
      if (!own.values.equal(
              SliceOf(item.tensor, own.begin, own.values.numel()))) {
        different.push_back(item.name);
      }
    }
  }
  if (found != saved.size()) different.emplace_back("the number of tensors");
  return different;
}

void TrainRank(Backend& backend, const Run& run, const DatasetPtr& data,
               Outcome& outcome) {
  TestLinear net(24, 3);
  {
    const at::NoGradGuard no_gradients;
    net["weight"].copy_(at::arange(72, at::kFloat).cos().reshape({3, 24}));
    net["bias"].zero_();
  }
  AdamW optimizer(*net, {.lr = 0.05});
  Trainer trainer(Supervised(net, MeanSquaredError()), optimizer, backend,
                  {.default_callbacks = false});
  trainer.Add(GradientNormMonitor(optimizer));
  int64_t steps = 0;
  trainer.Add(On<StepEnd>([&](const StepEnd&, Control& control) {
    if (++steps == run.stop_at) control.RequestStop("the test says so");
  }));
  std::vector<std::string> differences;
  trainer.Add(On<CheckpointLoaded>([&](const CheckpointLoaded& e, Control&) {
    const auto saved = LoadCheckpoint(e.path);
    const std::vector<NamedTensor> model = {{"bias", net["bias"].detach()},
                                            {"weight", net["weight"].detach()}};
    differences = Differences(HeldOf(model, backend),
                              saved->checkpoint.tensors.at("model"));
    for (std::string& name : Differences(
             HeldOf(optimizer), saved->checkpoint.tensors.at("optimizer"))) {
      differences.push_back(std::move(name));
    }
  }));
  // 4 updates of 2 windows of 3 samples on each of 1, 2 or 4 ranks.
  trainer.Train(
      {.data = data,
       .length = Epochs(run.epochs),
       .per_device_batch_size = 12 / backend.num_processes(),
       .grad_accum_steps = 2,
       .clip = ClipNorm(1),
       .checkpoint = {.directory = run.directory, .save = Every(Batches(3))},
       .resume = Resume::kIfPresent,
       .resume_from = {.path = run.resume_path},
       .handle_signals = false});
  const WholeParameters whole(backend);
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (backend.rank() == 0) {
    outcome.gradient_norms = trainer.history().Values("grad_norm_mean");
    outcome.parameters = {net["weight"].detach().clone(),
                          net["bias"].detach().clone()};
  }
  outcome.differences.insert(outcome.differences.end(), differences.begin(),
                             differences.end());
}

Outcome Train(const Launch& launch, const Run& run) {
  Outcome outcome;
  const DatasetPtr data = Waves();
  if (launch.backend == "sp") {
    TrainRank(*MakeBackend("sp"), run, data, outcome);
  } else {
    RunRanks(launch.ranks, [&](const Rendezvous& rendezvous) {
      const auto backend =
          MakeBackend(launch.backend, {.rendezvous = rendezvous});
      TrainRank(*backend, run, data, outcome);
    });
  }
  return outcome;
}

const std::vector<Launch>& Launches() {
  static const std::vector<Launch> launches = {
      {"sp", 1},    {"ddp", 2},   {"zero1", 1}, {"zero1", 2},
      {"zero1", 4}, {"zero2", 2}, {"zero2", 4}, {"zero2-amp", 2},
      {"fsdp", 1},  {"fsdp", 2},  {"fsdp", 4},  {"fsdp-amp", 2}};
  return launches;
}

// Stopped within a window, and at the end of one.
TEST(ShardedResumeTest, ResumesToTheBitOnTheSameRanks) {
  const std::string folder = TestFolder();
  for (const Launch& launch : Launches()) {
    SCOPED_TRACE(ToString(launch));
    const std::string name = folder + "/" + ToString(launch);
    const Outcome whole = Train(launch, {.directory = name + " whole"});
    for (const int64_t stop_at : {2, 3}) {
      const std::string parts = name + std::to_string(stop_at);
      Train(launch, {.directory = parts, .stop_at = stop_at});
      const Outcome resumed = Train(launch, {.directory = parts});
      EXPECT_THAT(resumed.differences, IsEmpty());
      for (size_t i = 0; i < whole.parameters.size(); ++i) {
        EXPECT_TRUE(resumed.parameters[i].equal(whole.parameters[i]));
      }
    }
  }
}

TEST(ShardedResumeTest, MonitorsTheNormOverAllRanks) {
  const std::string folder = TestFolder();
  const Outcome one = Train({"sp"}, {.directory = folder + "/sp"});
  const Outcome two = Train({"zero2", 2}, {.directory = folder + "/zero2"});
  ASSERT_EQ(one.gradient_norms.size(), 2);
  ASSERT_EQ(two.gradient_norms.size(), 2);
  for (const size_t epoch : {0, 1}) {
    EXPECT_NEAR(two.gradient_norms[epoch], one.gradient_norms[epoch], 1e-5);
  }
}

TEST(ShardedResumeTest, EveryBackendResumesWhatAnyBackendSaved) {
  const std::string folder = TestFolder();
  for (const Launch& saver : Launches()) {
    const std::string saved = folder + "/" + ToString(saver);
    Train(saver, {.directory = saved, .stop_at = 3});
    for (const Launch& resumer : Launches()) {
      SCOPED_TRACE(ToString(saver) + ", resumed by " + ToString(resumer));
      const Outcome resumed =
          Train(resumer, {.directory = saved + " to " + ToString(resumer),
                          .resume_path = saved});
      EXPECT_THAT(resumed.differences, IsEmpty());
      EXPECT_EQ(resumed.parameters.size(), 2);
    }
  }
}

}  // namespace
}  // namespace trainyard

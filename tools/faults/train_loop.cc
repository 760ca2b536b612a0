// Trains a small network on any backend and saves after every update; the fault
// scripts of this folder run it as several ranks. Resumes from --run_dir. Rank
// 0 prints "saved N" for each requested checkpoint, and "state_crc32c X" at the
// end.

#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scalar_tensor.h>
#include <absl/flags/flag.h>
#include <absl/flags/parse.h>
#include <absl/strings/str_format.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backends/make_backend.h"
#include "backends/processes/rendezvous.h"
#include "backends/processes/run_ranks.h"
#include "backends/whole_parameters.h"
#include "callbacks/hooks.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/data/batch_source.h"
#include "trainer/data/load_options.h"
#include "trainer/data/loader_options.h"
#include "trainer/data/sample_random.h"
#include "trainer/data/streaming/item_stream.h"
#include "trainer/data/streaming/stream_loader.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/train_unit.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, run_dir, "", "Folder of the checkpoints.");
ABSL_FLAG(std::string, backend, "ddp", "Name of the backend, see MakeBackend.");
ABSL_FLAG(int64_t, updates, 60, "Total number of updates.");
ABSL_FLAG(int64_t, checkpoint_every, 1, "Updates between two saves.");
ABSL_FLAG(double, timeout, 60, "Seconds to wait for another rank.");
ABSL_FLAG(bool, stream, false,
          "Reads the samples as a stream of unknown length, on a thread.");
ABSL_FLAG(int64_t, batch, 32, "Samples per update, over all ranks.");
ABSL_FLAG(double, dropout, 0.2, "Of the network's hidden layer.");
ABSL_FLAG(int64_t, threads, 0,
          "Runs so many ranks as threads of this one process. 0: this process "
          "is one rank. Ranks that are threads share a random generator: use "
          "--dropout=0 to compare them with others.");
ABSL_FLAG(std::string, sample_log, "",
          "Folder in which each rank writes the numbers of the samples that it "
          "trains on, a line per update.");
ABSL_FLAG(int64_t, step_ms, 0, "Makes each update at least so long.");
ABSL_FLAG(int64_t, stop_at, 0,
          "Stops after this update, saved and to be resumed. 0: at the end.");
ABSL_FLAG(int64_t, throw_at, 0,
          "The last rank throws after this update. 0: no rank throws.");

namespace trainyard {
namespace {

// At once: whoever reads it may end this process at any moment.
void Say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

torch::nn::Sequential MakeModel() {
  return torch::nn::Sequential(torch::nn::Linear(32, 64), torch::nn::ReLU(),
                               torch::nn::Dropout(absl::GetFlag(FLAGS_dropout)),
                               torch::nn::Linear(64, 1));
}

class Rows final : public ItemStream<Example> {
 public:
  explicit Rows(const at::Tensor& input) : input_(input) {}
  std::optional<Example> Next() override {
    if (next_ == input_.size(0)) return std::nullopt;
    const at::Tensor row = input_[next_++];
    return Example{row, row.sum().unsqueeze(0)};
  }

 private:
  at::Tensor input_;
  int64_t next_ = 0;
};

// Shuffled anew in each epoch.
std::unique_ptr<BatchSource> StreamOf(const at::Tensor& input,
                                      const LoaderRequest& request) {
  return std::make_unique<StreamLoader<Example>>(
      [input, seed = request.seed](int64_t epoch) {
        return std::make_unique<ShuffledStream<Example>>(
            std::make_unique<Rows>(input), /*buffer=*/64,
            EpochKey(seed, epoch));
      },
      LoaderOptions{.batch_size = request.batch_size,
                    .rank = request.rank,
                    .num_ranks = request.num_ranks,
                    .num_workers = 1});
}

// "update: number number …" in a file of its own for each start of the rank.
class SampleLog {
 public:
  SampleLog(const std::string& folder, int64_t rank)
      : file_(absl::StrFormat("%s/rank%d-%d.txt", folder, rank, getpid())) {}

  void Write(int64_t update, const Example& batch) {
    file_ << update << ":";
    for (int64_t row = 0; row < batch.input.size(0); ++row) {
      file_ << " " << batch.input[row][0].item<int64_t>();
    }
    file_ << std::endl;
  }

 private:
  std::ofstream file_;
};

// Of models and optimizer. Ranks that shard have states that differ: then it is
// of all of them.
uint32_t CrcOverRanks(Backend& backend, std::vector<NamedTensor> all,
                      const Optimizer& optimizer) {
  const WholeParameters whole(backend);
  for (const NamedTensor& item : optimizer.NamedTensors()) all.push_back(item);
  const uint32_t own = StateCrc32c(all);
  if (!backend.shards_gradients()) return own;
  std::vector<NamedTensor> of_ranks;
  for (const at::Tensor& crc : backend.collectives().AllGather(
           at::scalar_tensor(static_cast<int64_t>(own), at::kLong))) {
    of_ranks.push_back({std::to_string(of_ranks.size()), crc});
  }
  return StateCrc32c(of_ranks);
}

int RunRank(const std::optional<Rendezvous>& rendezvous) {
  const auto backend = MakeBackend(
      absl::GetFlag(FLAGS_backend),
      {.timeout = std::chrono::milliseconds(
           static_cast<int64_t>(1000 * absl::GetFlag(FLAGS_timeout))),
       .rendezvous = rendezvous});
  // Ranks that are threads share the generator.
  static std::mutex drawing;
  std::unique_lock lock(drawing);
  at::manual_seed(1);
  const at::Tensor input = at::randn({256, 32});
  const std::string sample_log = absl::GetFlag(FLAGS_sample_log);
  // The first column is the number of the row.
  if (!sample_log.empty()) input.select(1, 0).copy_(at::arange(256));
  const DatasetPtr data = MakeTensorDataset(Example{input, input.sum(1, true)});
  torch::nn::Sequential model = MakeModel();
  lock.unlock();
  AdamW optimizer(*model, {.lr = 0.01});
  Trainer trainer(Supervised(model, MeanSquaredError()), optimizer, *backend,
                  {.default_callbacks = false});
  const int64_t rank = backend->rank();
  trainer.Add(On<CheckpointSaved>([&](const CheckpointSaved& e, Control&) {
    if (rank == 0) Say(absl::StrFormat("saved %d", e.clock.updates()));
  }));
  std::optional<SampleLog> log;
  if (!sample_log.empty()) log.emplace(sample_log, rank);
  // Before the update: it takes effect on all ranks after it.
  trainer.Add(On<LossEnd>([&](const LossEnd& e, Control& control) {
    if (e.clock.updates() + 1 == absl::GetFlag(FLAGS_stop_at)) {
      control.RequestStop("planned");
    }
  }));
  const bool last = rank + 1 == backend->num_processes();
  trainer.Add(On<StepEnd>([&](const StepEnd& e, Control&) {
    if (log) log->Write(e.clock.updates(), e.batch.As<Example>());
    std::this_thread::sleep_for(
        std::chrono::milliseconds(absl::GetFlag(FLAGS_step_ms)));
    if (last && e.clock.updates() == absl::GetFlag(FLAGS_throw_at)) {
      throw std::runtime_error("this rank has had enough");
    }
  }));
  const int64_t updates = absl::GetFlag(FLAGS_updates);
  MakeSource source;
  if (absl::GetFlag(FLAGS_stream)) {
    source = [&](const LoaderRequest& request) {
      return StreamOf(input, request);
    };
  }
  const RunResult result = trainer.Train(
      {.data = data,
       .source = source,
       .length = Updates(updates),
       .per_device_batch_size =
           absl::GetFlag(FLAGS_batch) / backend->num_processes(),
       .checkpoint = {.directory = absl::GetFlag(FLAGS_run_dir),
                      .save = Every(Updates(static_cast<double>(
                          absl::GetFlag(FLAGS_checkpoint_every))))},
       .resume = Resume::kIfPresent,
       .seed = 1});
  const uint32_t crc =
      CrcOverRanks(*backend, trainer.task().NamedTensors(), optimizer);
  if (rank == 0) Say(absl::StrFormat("state_crc32c %08x", crc));
  return ExitCode(result.ending);
}

int Run() {
  const int64_t threads = absl::GetFlag(FLAGS_threads);
  if (threads == 0) return RunRank(std::nullopt);
  RunRanks(threads, RunRank);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return trainyard::Main(trainyard::Run);
}

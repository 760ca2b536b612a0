// One training run of Trainyard's own trainer on a workload of the comparison
// with other frameworks. peers.py starts it and reads its last line.
//
//   trainyard_train --workload=mlp --threads=1 --steps=200
#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <absl/flags/flag.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
#include "schedulers/cosine.h"
#include "tools/bench/peers/networks.h"
#include "tools/bench/peers/workloads.h"
#include "tools/cli/parse_flags.h"
#include "tools/examples/conv_net.h"
#include "tools/examples/fashion_mnist_data.h"
#include "trainer/data/datasets/subset.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/exported/compiled_task.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/or_throw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, workload, "tiny", "tiny, mlp, transformer or conv.");
ABSL_FLAG(int64_t, threads, 1, "Threads of libtorch.");
ABSL_FLAG(std::string, backend, "sp", "See MakeBackend.");
ABSL_FLAG(int64_t, steps, 0,
          "Number of steps. 0: trains conv until it has 91 % accuracy.");
ABSL_FLAG(std::string, compiled, "",
          "FILE.safetensors and FILE.pt2 of the network and its compiled step. "
          "Empty: the network's own code.");

namespace trainyard::bench {
namespace {

// Trains until the accuracy is reached.
int TimeToAccuracy(Trainer& trainer, const Workload& work) {
  const FashionMnist images = OrThrow(LoadFashionMnist(kFashionMnistFolder));
  int64_t epochs = 0;
  double accuracy = 0;
  trainer.Add(On<EvalEnd>([&](const EvalEnd& e, Control& control) {
    ++epochs;
    accuracy = e.metrics.at("eval_accuracy");
    if (accuracy >= kWanted) {
      PrintAccuracy(epochs, accuracy);
      control.RequestStop("the accuracy is reached");
    }
  }));
  trainer.Train({.data = images.train,
                 .eval_data = images.test,
                 .length = Epochs(kEpochs),
                 .per_device_batch_size = work.batch,
                 .clip = ClipNorm(1),
                 .schedule = Cosine(),
                 .eval_per_device_batch_size = 1000});
  if (accuracy < kWanted) PrintAccuracy(epochs, accuracy);  // throws
  return 0;
}

DatasetPtr TrainingData(const Workload& work, int64_t count) {
  if (work.network != Network::kConvNet) {
    const Records records = MakeRecords(work, count);
    return MakeTensorDataset(Example{records.input, records.target});
  }
  // Normalised batch by batch, as in the example.
  return SubsetOf(OrThrow(LoadFashionMnist(kFashionMnistFolder)).train,
                  at::arange(count, at::kLong));
}

template <class Model>
int Train(Model model, std::unique_ptr<Task> task, const Workload& work) {
  AdamW optimizer(*model, {.lr = work.rate});
  const auto backend = MakeBackend(absl::GetFlag(FLAGS_backend));
  Trainer trainer(std::move(task), optimizer, *backend);
  if (work.steps == 0) return TimeToAccuracy(trainer, work);
  const DatasetPtr data =
      TrainingData(work, work.batch * work.steps * backend->num_processes());
  std::vector<double> ends;
  ends.reserve(static_cast<size_t>(work.steps));
  trainer.Add(On<UpdateEnd>(
      [&](const UpdateEnd&, Control&) { ends.push_back(Seconds()); }));
  trainer.Train({.data = data,
                 .length = Epochs(1),
                 .per_device_batch_size = work.batch,
                 .clip = ClipNorm(1),
                 .schedule = Cosine()});
  if (backend->rank() == 0) {
    PrintResult(ends, FirstLoss(model, First(*data, kLossRecords)));
  }
  return 0;
}

int Run() {
  at::set_num_threads(static_cast<int>(absl::GetFlag(FLAGS_threads)));
  const Workload work =
      GetWorkload(absl::GetFlag(FLAGS_workload), absl::GetFlag(FLAGS_steps));
  if (const std::string file = absl::GetFlag(FLAGS_compiled); !file.empty()) {
    const auto model = OrThrow(LoadExported(file + ".safetensors"));
    const auto step = OrThrow(LoadCompiledStep(file + ".pt2", model));
    return Train(model, CompiledSupervised(model, step, CrossEntropy()), work);
  }
  return WithNetwork<ConvNet>(work, [&](auto model) {
    return Train(model,
                 Supervised(model, CrossEntropy(), {{"accuracy", Accuracy()}}),
                 work);
  });
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "one training run of the comparison with others");
  return trainyard::Main(trainyard::bench::Run);
}

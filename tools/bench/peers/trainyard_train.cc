// One training run of Trainyard's own trainer on a workload of the comparison
// with other frameworks. peers.py starts it and reads its last line.
//
//   trainyard_train --workload=mlp --threads=1
#include <ATen/Parallel.h>
#include <absl/flags/flag.h>

#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
#include "schedulers/cosine.h"
#include "tools/bench/peers/networks.h"
#include "tools/bench/peers/workloads.h"
#include "tools/cli/parse_flags.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, workload, "tiny", "tiny, mlp or transformer.");
ABSL_FLAG(int64_t, threads, 1, "Threads of libtorch.");
ABSL_FLAG(std::string, backend, "sp", "See MakeBackend.");
ABSL_FLAG(int64_t, steps, 0, "Number of steps. 0: the workload's own.");

namespace trainyard::bench {
namespace {

template <class Model>
int Train(Model model, const Workload& work) {
  AdamW optimizer(*model, {.lr = 1e-3});
  const auto backend = MakeBackend(absl::GetFlag(FLAGS_backend));
  const Records data =
      MakeRecords(work, work.batch * work.steps * backend->num_processes());
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  std::vector<double> ends;
  ends.reserve(static_cast<size_t>(work.steps));
  trainer.Add(On<UpdateEnd>(
      [&](const UpdateEnd&, Control&) { ends.push_back(Seconds()); }));
  trainer.Train({.data = MakeTensorDataset(Example{data.input, data.target}),
                 .length = Epochs(1),
                 .per_device_batch_size = work.batch,
                 .clip = ClipNorm(1),
                 .schedule = Cosine()});
  if (backend->rank() == 0) {
    PrintResult(ends, FirstLoss(model, data));
  }
  return 0;
}

int Run() {
  at::set_num_threads(static_cast<int>(absl::GetFlag(FLAGS_threads)));
  const Workload work =
      GetWorkload(absl::GetFlag(FLAGS_workload), absl::GetFlag(FLAGS_steps));
  return WithNetwork(work, [&](auto model) { return Train(model, work); });
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "one training run of the comparison with others");
  return trainyard::Main(trainyard::bench::Run);
}

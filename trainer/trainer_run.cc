#include "trainer/trainer_run.h"

#include <ATen/ops/full.h>
#include <c10/util/Exception.h>

#include <set>
#include <string>
#include <utility>

#include "callbacks/other_weights.h"

namespace trainyard {
namespace {

Loader MakeTrainLoader(const TrainOptions& options, Task& task,
                       const Backend& backend) {
  return task.TrainLoader({.data = options.data,
                           .batch_size = MicroBatchOf(options).size,
                           .seed = options.seed,
                           .rank = backend.rank(),
                           .num_ranks = backend.num_processes()});
}

std::vector<Trainer::Run::Eval> MakeEvals(const TrainOptions& options,
                                          Task& task, const Backend& backend) {
  std::vector<Trainer::Run::Eval> evals;
  const auto add = [&](const std::string& name, const DatasetPtr& data) {
    evals.push_back(
        {name, task.EvalLoader(EvalRequest(task, backend, data,
                                           EvalBatchSizeOf(options)))});
  };
  if (options.eval_data != nullptr) add("eval", options.eval_data);
  for (const EvalSet& set : options.eval_sets) add(set.name, set.data);
  return evals;
}

int64_t BatchesOf(const std::vector<Trainer::Run::Eval>& evals) {
  int64_t batches = 0;
  for (const auto& eval : evals)
    batches += eval.loader.batches_per_epoch().value();
  return batches;
}

}  // namespace

LoaderRequest EvalRequest(const Task& task, const Backend& backend,
                          const DatasetPtr& data, int64_t batch_size) {
  LoaderRequest request{.data = data, .batch_size = batch_size};
  if (!task.evaluates_dataset()) {
    request.rank = backend.rank();
    request.num_ranks = backend.num_processes();
  }
  return request;
}

Trainer::Run::Run(const TrainOptions& run_options, Task& task, Backend& backend)
    : options(run_options),
      loader(MakeTrainLoader(options, task, backend)),
      evals(MakeEvals(options, task, backend)),
      config(MakeRunConfig(options, backend,
                           {.train = loader.batches_per_epoch().value(),
                            .eval = BatchesOf(evals)})) {
  if (options.handle_signals) cancellation.emplace();
  if (!options.checkpoint.directory.empty()) {
    checkpoints.emplace(options.checkpoint, backend);
  }
}

double Trainer::Run::AgreedSeconds(Backend& backend) const {
  const double here = SecondsSinceStart();
  if (backend.num_processes() == 1) return here;
  bool needed = false;
  for (const Period* period :
       {&options.evaluate, &options.checkpoint.every, &options.report}) {
    needed |= period->uses_seconds();
  }
  if (!needed) return here;
  at::Tensor seconds = at::full({1}, here, at::kDouble).to(backend.device());
  backend.collectives().Broadcast(seconds);
  return seconds.item<double>();
}

double Trainer::Run::SecondsSinceStart() const {
  return seconds_before +
         std::chrono::duration<double>(Clock::now() - start).count();
}

void CheckPrefixes(const CallbackHandler& callbacks) {
  std::set<std::string> prefixes;
  for (const OtherWeights* others : callbacks.FindAll<OtherWeights>()) {
    TORCH_CHECK_VALUE(
        !others->wanted() || prefixes.insert(others->prefix()).second,
        "Train: two callbacks evaluate other weights under the prefix \"",
        others->prefix(), "\"; give each a prefix of its own");
  }
}

}  // namespace trainyard

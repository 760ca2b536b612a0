#include "trainer/trainer.h"

#include <c10/util/Exception.h>

#include <limits>
#include <string>
#include <utility>

#include "trainer/default_callbacks.h"
#include "trainer/loop/evaluator.h"
#include "trainer/loop/limit_batches.h"
#include "trainer/loop/training_run.h"
#include "trainer/run_clock.h"

namespace trainyard {

Trainer::Trainer(HeldTask task, Optimizer& optimizer, Backend& backend,
                 TrainerOptions options)
    : Trainer(std::move(task), &optimizer, backend, options) {}

Trainer::Trainer(HeldTask task, Backend& backend, TrainerOptions options)
    : Trainer(std::move(task), nullptr, backend, options) {}

Trainer::Trainer(HeldTask task, Optimizer* optimizer, Backend& backend,
                 TrainerOptions options)
    : task_(std::move(task)),
      backend_(backend),
      options_(options),
      callbacks_(control_),
      eval_batch_size_(EvalBatchSizeOf(TrainOptions())) {
  TORCH_CHECK_VALUE(task_.task() != nullptr, "Trainer: the task is null");
  if (optimizer != nullptr) optimizers_.push_back({"optimizer", optimizer});
  for (const NamedOptimizer& own : task_.task()->optimizers()) {
    TORCH_CHECK_VALUE(optimizer == nullptr || (own.name != "optimizer" &&
                                               own.optimizer != optimizer),
                      "Trainer: optimizer \"", own.name,
                      "\" is the task's and is given to the trainer, too; use "
                      "Trainer(task, backend)");
    optimizers_.push_back(own);
  }
  TORCH_CHECK_VALUE(!optimizers_.empty(),
                    "Trainer: there is no optimizer; give it one, or let the "
                    "task call AddOptimizer");
  task_.task()->To(backend_.device());
  // The task's methods come before all callbacks.
  if (task_.callback() != nullptr) {
    callbacks_.Add(*task_.callback(),
                   {.priority = std::numeric_limits<int>::min()});
  }
}

RunResult Trainer::Train(const TrainOptions& options) {
  std::optional<DefaultCallbacks> defaults;
  if (options_.default_callbacks) {
    const DefaultCallbacksOptions choice{
        .backend = backend_, .stop_on_nan = options.max_dropped_updates == 0};
    defaults.emplace(callbacks_, choice);
  }
  TrainingRun run(
      {*task_.task(), optimizers_, backend_, callbacks_, control_, *history_},
      options);
  eval_batch_size_ = EvalBatchSizeOf(options);
  eval_load_ = EvalLoadOf(options);
  return run.Run();
}

Metrics Trainer::Evaluate(DatasetPtr data,
                          std::optional<int64_t> per_device_batch_size) {
  const int64_t batch_size = per_device_batch_size.value_or(eval_batch_size_);
  TORCH_CHECK_VALUE(data != nullptr, "Evaluate: there is no data");
  TORCH_CHECK_VALUE(data->size() > 0,
                    "Evaluate: the data is empty: it has no samples");
  TORCH_CHECK_VALUE(batch_size >= 1, "Evaluate: per_device_batch_size is ",
                    batch_size, "; it must be at least 1");
  Evaluator evaluator(
      {*task_.task(), backend_, callbacks_},
      {.max_batches = LimitBatches(std::nullopt), .other_weights = false});
  evaluator.Add("evaluation", task_.task()->EvalLoader(evaluator.Request(
                                  data, batch_size, eval_load_)));
  callbacks_.FireInitEnd();
  return evaluator.Evaluate(
      RunClock({.num_processes = backend_.num_processes()}));
}

}  // namespace trainyard

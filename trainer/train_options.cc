#include "trainer/train_options.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <set>

#include "trainer/loop/limit_batches.h"

namespace trainyard {
namespace {

void CheckAtLeast(const char* option, int64_t value, int64_t least) {
  TORCH_CHECK_VALUE(value >= least, "Train: ", option, " is ", value,
                    "; it must be at least ", least);
}

void CheckAtLeast(const char* option, std::optional<int64_t> value,
                  int64_t least) {
  if (value) CheckAtLeast(option, *value, least);
}

void CheckResume(const TrainOptions& options) {
  const ResumeFrom& from = options.resume_from;
  TORCH_CHECK_VALUE(
      options.checkpoint.directory.empty() || !options.checkpoint.checkpointer,
      "Train: checkpoint.directory is \"", options.checkpoint.directory,
      "\" and checkpoint.checkpointer is set; set only one of them");
  TORCH_CHECK_VALUE(
      !from.step || !from.path,
      "Train: resume_from.step and resume_from.path are set; set only one of "
      "them");
  TORCH_CHECK_VALUE(!from.step || options.resume == Resume::kRequired,
                    "Train: resume_from.step is ", from.step.value_or(0),
                    "; resume must be Resume::kRequired");
  TORCH_CHECK_VALUE(!from.path || options.resume != Resume::kNever,
                    "Train: resume_from.path is ", from.path.value_or(""),
                    ", but resume is Resume::kNever; set kIfPresent or "
                    "kRequired");
  TORCH_CHECK_VALUE(
      options.resume != Resume::kRequired || options.checkpoint.enabled(),
      "Train: resume is Resume::kRequired, but checkpoint.directory is empty");
}

int64_t RoundedUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

void CheckTrainOptions(const TrainOptions& options) {
  TORCH_CHECK_VALUE(options.data != nullptr, "Train: there is no data");
  TORCH_CHECK_VALUE(options.data->size() > 0,
                    "Train: the data is empty: it has no samples");
  CheckAtLeast("num_epochs", options.num_epochs, 0);
  CheckAtLeast("max_updates", options.max_updates, 0);
  TORCH_CHECK_VALUE(
      options.num_epochs > 0 || options.max_updates > 0,
      "Train: set num_epochs or max_updates, or the run would not end");
  CheckAtLeast("max_batches_per_epoch", options.max_batches_per_epoch, 1);
  CheckAtLeast("max_eval_batches", options.max_eval_batches, 1);
  CheckAtLeast("per_device_batch_size", options.per_device_batch_size, 1);
  CheckAtLeast("eval_per_device_batch_size", options.eval_per_device_batch_size,
               1);
  CheckAtLeast("max_micro_batch_size", options.max_micro_batch_size, 1);
  CheckAtLeast("grad_accum_steps", options.grad_accum_steps, 1);
  CheckAtLeast("max_dropped_updates", options.max_dropped_updates, 0);
  CheckResume(options);
  std::set<std::string> names = {"train"};
  if (options.eval_data != nullptr) {
    TORCH_CHECK_VALUE(options.eval_data->size() > 0,
                      "Train: eval_data is empty: it has no samples");
    names.insert("eval");
  }
  for (const EvalSet& set : options.eval_sets) {
    TORCH_CHECK_VALUE(set.data != nullptr, "Train: evaluation set \"", set.name,
                      "\" has no data");
    TORCH_CHECK_VALUE(set.data->size() > 0, "Train: evaluation set \"",
                      set.name, "\" is empty: it has no samples");
    TORCH_CHECK_VALUE(!set.name.empty() && names.insert(set.name).second,
                      "Train: an evaluation set is named \"", set.name,
                      "\"; each needs a name of its own, and not \"train\"");
  }
}

MicroBatch MicroBatchOf(const TrainOptions& options) {
  MicroBatch split{.size = options.per_device_batch_size,
                   .grad_accum_steps = 1};
  if (options.max_micro_batch_size) {
    split = SplitBatch(split.size, *options.max_micro_batch_size);
  }
  split.grad_accum_steps *= options.grad_accum_steps;
  return split;
}

int64_t EvalBatchSizeOf(const TrainOptions& options) {
  return options.eval_per_device_batch_size.value_or(
      MicroBatchOf(options).size);
}

RunConfig MakeRunConfig(const TrainOptions& options, const Backend& backend,
                        const LoaderLengths& lengths) {
  const MicroBatch split = MicroBatchOf(options);
  RunConfig config{.backend = backend.name(),
                   .device = backend.device().str(),
                   .num_processes = backend.num_processes(),
                   .seed = static_cast<int64_t>(options.seed),
                   .per_device_batch_size = split.size,
                   .eval_per_device_batch_size = EvalBatchSizeOf(options),
                   .grad_accum_steps = split.grad_accum_steps,
                   .batches_per_epoch = lengths.train,
                   .eval_batches = lengths.eval,
                   .clip = ToString(options.clip),
                   .evaluate = ToString(options.evaluate),
                   .checkpoint = options.checkpoint.enabled()
                                     ? ToString(options.checkpoint.every)
                                     : "never",
                   .report = ToString(options.report)};
  config.total_batch_size = config.per_device_batch_size *
                            config.num_processes * config.grad_accum_steps;
  config.eval_total_batch_size =
      config.eval_per_device_batch_size * config.num_processes;
  if (const auto limit = LimitBatches(options.max_batches_per_epoch)) {
    config.batches_per_epoch = std::min(config.batches_per_epoch, *limit);
  }
  config.updates_per_epoch =
      RoundedUp(config.batches_per_epoch, config.grad_accum_steps);
  config.max_updates = options.num_epochs * config.updates_per_epoch;
  if (options.max_updates > 0 &&
      (options.num_epochs == 0 || options.max_updates < config.max_updates)) {
    config.max_updates = options.max_updates;
  }
  config.num_epochs = RoundedUp(config.max_updates, config.updates_per_epoch);
  return config;
}

}  // namespace trainyard

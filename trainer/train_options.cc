#include "trainer/train_options.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
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

void CheckLength(const char* option, Duration length) {
  TORCH_CHECK_VALUE(
      length.unit == TrainUnit::kEpochs || length.unit == TrainUnit::kUpdates,
      "Train: ", option, " is ", ToString(length),
      "; it must be in epochs or updates. Add MaxDuration to end a run by "
      "another unit");
  TORCH_CHECK_VALUE(length.amount > 0, "Train: ", option, " is ",
                    ToString(length), "; it must be more than 0");
}

// A length in updates, of an epoch of known length.
int64_t InUpdates(Duration length, int64_t updates_per_epoch) {
  if (length.unit == TrainUnit::kUpdates) {
    return static_cast<int64_t>(length.amount);
  }
  // At least one: a short part of a short epoch trains, too.
  return std::max<int64_t>(
      1, std::llround(length.amount * static_cast<double>(updates_per_epoch)));
}

int64_t RoundedUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// For data of unknown length: updates end the run, and epochs may end it
// earlier.
void SetUnknownLength(const TrainOptions& options, RunConfig& config) {
  std::optional<int64_t> updates;
  for (const std::optional<Duration>& limit :
       {options.length, options.at_most}) {
    if (!limit) continue;
    const auto amount = static_cast<int64_t>(limit->amount);
    std::optional<int64_t>& least =
        limit->unit == TrainUnit::kUpdates ? updates : config.num_epochs;
    TORCH_CHECK_VALUE(static_cast<double>(amount) == limit->amount,
                      "Train: the length of the training data is unknown; ",
                      ToString(*limit), " is not a whole number");
    least = std::min(amount, least.value_or(amount));
  }
  TORCH_CHECK_VALUE(updates.has_value(),
                    "Train: the length of the training data is unknown; set "
                    "length or at_most to Updates(n), which ends the run");
  config.total_updates = *updates;
}

}  // namespace

void CheckTrainOptions(const TrainOptions& options) {
  TORCH_CHECK_VALUE(options.data == nullptr || options.data->size() > 0,
                    "Train: the data is empty: it has no samples");
  TORCH_CHECK_VALUE(options.length.has_value(),
                    "Train: length is not set; say how long the run is, e.g. "
                    ".length = Epochs(3)");
  CheckLength("length", *options.length);
  if (options.at_most) CheckLength("at_most", *options.at_most);
  CheckAtLeast("max_batches_per_epoch", options.max_batches_per_epoch, 1);
  CheckAtLeast("max_eval_batches", options.max_eval_batches, 1);
  CheckAtLeast("per_device_batch_size", options.per_device_batch_size, 1);
  CheckAtLeast("eval_per_device_batch_size", options.eval_per_device_batch_size,
               1);
  CheckAtLeast("max_micro_batch_size", options.max_micro_batch_size, 1);
  CheckAtLeast("grad_accum_steps", options.grad_accum_steps, 1);
  CheckAtLeast("capture_after_steps", options.capture_after_steps, 1);
  CheckAtLeast("max_dropped_updates", options.max_dropped_updates, 0);
  CheckResume(options);
  std::set<std::string> names = {"train"};
  if (options.eval_data != nullptr) {
    TORCH_CHECK_VALUE(options.eval_data->size() > 0,
                      "Train: eval_data is empty: it has no samples");
    names.insert("eval");
  }
  for (const EvalSet& set : options.eval_sets) {
    TORCH_CHECK_VALUE(set.data != nullptr || set.source != nullptr,
                      "Train: evaluation set \"", set.name,
                      "\" has no data and no source");
    TORCH_CHECK_VALUE(set.data == nullptr || set.data->size() > 0,
                      "Train: evaluation set \"", set.name,
                      "\" is empty: it has no samples");
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

LoadOptions EvalLoadOf(const TrainOptions& options) {
  if (options.eval_loader) return *options.eval_loader;
  LoadOptions load = options.loader;
  load.sampler = nullptr;
  load.last_batch = LastBatch::kUneven;
  return load;
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
                   .eval_batches = lengths.eval,
                   .clip = ToString(options.clip),
                   .evaluate = ToString(options.evaluate),
                   .checkpoint = options.checkpoint.enabled()
                                     ? ToString(options.checkpoint.save)
                                     : "never",
                   .report = ToString(options.report),
                   .loader = options.source == nullptr
                                 ? ToString(options.loader)
                                 : "own source",
                   .eval_loader = ToString(EvalLoadOf(options))};
  config.total_batch_size = config.per_device_batch_size *
                            config.num_processes * config.grad_accum_steps;
  config.eval_total_batch_size =
      config.eval_per_device_batch_size * config.num_processes;
  if (!lengths.train) {
    SetUnknownLength(options, config);
    return config;
  }
  int64_t batches = *lengths.train;
  if (const auto limit = LimitBatches(options.max_batches_per_epoch)) {
    batches = std::min(batches, *limit);
  }
  const int64_t updates = RoundedUp(batches, config.grad_accum_steps);
  config.batches_per_epoch = batches;
  config.updates_per_epoch = updates;
  config.total_updates = InUpdates(*options.length, updates);
  if (options.at_most) {
    config.total_updates =
        std::min(config.total_updates, InUpdates(*options.at_most, updates));
  }
  config.num_epochs = RoundedUp(config.total_updates, updates);
  return config;
}

}  // namespace trainyard

#include "tools/cli/run_flags.h"

#include <absl/flags/flag.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tools/cli/settings.h"
#include "tools/inspect/named_schedule.h"
#include "trainer/optim/clip.h"

using OptionalBool = std::optional<bool>;
using OptionalInt = std::optional<int64_t>;
using OptionalDouble = std::optional<double>;
using OptionalText = std::optional<std::string>;

ABSL_FLAG(OptionalText, length, {}, "Length of the run: \"5 epochs\".");
ABSL_FLAG(OptionalText, at_most, {}, "Shortens the run: \"100 updates\".");
ABSL_FLAG(OptionalInt, per_device_batch_size, {}, "Samples per batch.");
ABSL_FLAG(OptionalInt, max_micro_batch_size, {},
          "Trains on parts of a batch of at most this many samples.");
ABSL_FLAG(OptionalInt, grad_accum_steps, {}, "Batches per update.");
ABSL_FLAG(OptionalDouble, clip_norm, {}, "Limit of the gradients' norm.");
ABSL_FLAG(OptionalDouble, clip_value, {}, "Limit of each gradient.");
ABSL_FLAG(OptionalText, schedule, {},
          "Schedule of the learning rate: \"cosine --warmup_epochs=1\".");
ABSL_FLAG(OptionalInt, max_dropped_updates, {},
          "Updates with a loss that is not finite, in a row.");
ABSL_FLAG(OptionalText, evaluate, {}, "When to evaluate: \"1 epoch\".");
ABSL_FLAG(OptionalBool, evaluate_at_start, {},
          "Also evaluates the initial weights.");
ABSL_FLAG(OptionalInt, eval_per_device_batch_size, {},
          "Samples per batch of an evaluation.");
ABSL_FLAG(OptionalText, report, {},
          "When to report training metrics: \"100 batches\".");
ABSL_FLAG(OptionalText, checkpoint_save, {}, "When to save: \"1 epoch\".");
ABSL_FLAG(OptionalBool, checkpoint_save_per_node, {},
          "Each node saves a checkpoint of its own.");
ABSL_FLAG(OptionalBool, checkpoint_asynchronous, {},
          "Saves while training continues.");
ABSL_FLAG(OptionalText, checkpoint_on_failure, {},
          "If a save fails: throw or warn.");
ABSL_FLAG(OptionalInt, checkpoint_keep_last, {}, "Newest checkpoints to keep.");
ABSL_FLAG(OptionalInt, checkpoint_keep_best, {}, "Best checkpoints to keep.");
ABSL_FLAG(OptionalText, checkpoint_keep_metric, {}, "Metric of the best.");
ABSL_FLAG(OptionalText, checkpoint_keep_better, {}, "lower or higher.");
ABSL_FLAG(OptionalInt, checkpoint_keep_every, {},
          "Keeps also the steps that are a multiple of this.");
ABSL_FLAG(OptionalText, resume, {}, "never, if_present or required.");
ABSL_FLAG(OptionalInt, resume_from_step, {}, "A step of the run to resume.");
ABSL_FLAG(OptionalText, resume_from_path, {}, "A checkpoint to resume.");
ABSL_FLAG(OptionalBool, resume_from_fresh_optimizers, {},
          "Resumes without the optimizers' state.");
ABSL_FLAG(OptionalInt, loader_prefetch, {}, "Batches made in advance.");
ABSL_FLAG(OptionalInt, loader_num_workers, {},
          "Threads that make batches in advance.");
ABSL_FLAG(OptionalBool, loader_pin_memory, {}, "Page-locked batches.");
ABSL_FLAG(OptionalText, loader_last_batch, {}, "uneven, pad or drop.");
ABSL_FLAG(OptionalInt, max_batches_per_epoch, {}, "Shorter epochs.");
ABSL_FLAG(OptionalInt, max_eval_batches, {}, "Shorter evaluations.");
ABSL_FLAG(OptionalBool, reset_history, {},
          "Forgets the history of an earlier run.");
ABSL_FLAG(OptionalBool, handle_signals, {},
          "SIGINT and SIGTERM end the run after the current step.");

namespace trainyard {
namespace {

[[noreturn]] void Reject(const std::string& flag, const std::string& text,
                         const std::string& want) {
  throw std::invalid_argument("--" + flag + " is '" + text + "', want " + want);
}

TrainUnit ParseUnit(const std::string& flag, const std::string& text,
                    const std::string& unit) {
  for (const TrainUnit known :
       {TrainUnit::kBatches, TrainUnit::kUpdates, TrainUnit::kSamples,
        TrainUnit::kEpochs, TrainUnit::kSeconds}) {
    const std::string name = ToString(known);
    // "1 epoch", "1 batch".
    const std::string one = name.substr(0, name.size() - 1);
    if (unit == name || unit == one || (unit == "batch" && name == "batches")) {
      return known;
    }
  }
  Reject(flag, text,
         "a number of batches, updates, samples, epochs or seconds, e.g. \"5 "
         "epochs\"");
}

double ParseAmount(const std::string& flag, const std::string& text,
                   const std::string& amount) {
  double value = 0;
  if (!absl::SimpleAtod(amount, &value) || !(value > 0)) {
    Reject(flag, text, "a number above 0 and a unit, e.g. \"5 epochs\"");
  }
  return value;
}

std::vector<std::string> Words(const std::string& text, char between) {
  return absl::StrSplit(text, between, absl::SkipWhitespace());
}

template <class Enum>
void Choose(const char* flag, const OptionalText& text,
            const std::vector<std::pair<std::string, Enum>>& choices,
            Enum& field) {
  if (!text) return;
  std::string all;
  for (const auto& [word, value] : choices) {
    if (*text == word) {
      field = value;
      return;
    }
    all += (all.empty() ? "" : " or ") + word;
  }
  Reject(flag, *text, all);
}

template <class Field, class Value>
void Set(const std::optional<Value>& value, Field& field) {
  if (value) field = *value;
}

void SetPeriod(const char* flag, const OptionalText& text, Period& field) {
  if (text) field = ParsePeriod(flag, *text);
}

ScheduleFactory ParseSchedule(const std::string& text) {
  std::vector<std::string> words = Words(text, ' ');
  if (words.empty()) Reject("schedule", text, "the name of a schedule");
  const std::string name = words.front();
  words.erase(words.begin());
  try {
    Settings settings(words);
    ScheduleFactory factory = NamedSchedule(name, settings);
    settings.CheckAllUsed(name);
    return factory;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("--schedule is '" + text +
                                "': " + error.what());
  }
}

void ApplyCheckpointFlags(CheckpointOptions& options) {
  SetPeriod("checkpoint_save", absl::GetFlag(FLAGS_checkpoint_save),
            options.save);
  Set(absl::GetFlag(FLAGS_checkpoint_save_per_node), options.save_per_node);
  Set(absl::GetFlag(FLAGS_checkpoint_asynchronous), options.asynchronous);
  using Failure = CheckpointOptions::Failure;
  Choose<Failure>("checkpoint_on_failure",
                  absl::GetFlag(FLAGS_checkpoint_on_failure),
                  {{"throw", Failure::kThrow}, {"warn", Failure::kWarn}},
                  options.on_failure);
  if (const auto last = absl::GetFlag(FLAGS_checkpoint_keep_last)) {
    options.keep.last = static_cast<int>(*last);
  }
  if (const auto best = absl::GetFlag(FLAGS_checkpoint_keep_best)) {
    options.keep.best = static_cast<int>(*best);
  }
  Set(absl::GetFlag(FLAGS_checkpoint_keep_metric), options.keep.metric);
  Choose<Better>("checkpoint_keep_better",
                 absl::GetFlag(FLAGS_checkpoint_keep_better),
                 {{"lower", Better::kLower}, {"higher", Better::kHigher}},
                 options.keep.better);
  Set(absl::GetFlag(FLAGS_checkpoint_keep_every), options.keep.every);
}

void ApplyResumeFlags(TrainOptions& options) {
  Choose<Resume>("resume", absl::GetFlag(FLAGS_resume),
                 {{"never", Resume::kNever},
                  {"if_present", Resume::kIfPresent},
                  {"required", Resume::kRequired}},
                 options.resume);
  Set(absl::GetFlag(FLAGS_resume_from_step), options.resume_from.step);
  Set(absl::GetFlag(FLAGS_resume_from_path), options.resume_from.path);
  Set(absl::GetFlag(FLAGS_resume_from_fresh_optimizers),
      options.resume_from.fresh_optimizers);
}

void ApplyLoaderFlags(LoadOptions& options) {
  Set(absl::GetFlag(FLAGS_loader_prefetch), options.prefetch);
  Set(absl::GetFlag(FLAGS_loader_num_workers), options.num_workers);
  Set(absl::GetFlag(FLAGS_loader_pin_memory), options.pin_memory);
  Choose<LastBatch>("loader_last_batch", absl::GetFlag(FLAGS_loader_last_batch),
                    {{"uneven", LastBatch::kUneven},
                     {"pad", LastBatch::kPad},
                     {"drop", LastBatch::kDrop}},
                    options.last_batch);
}

void ApplyClipFlags(Clip& clip) {
  const OptionalDouble norm = absl::GetFlag(FLAGS_clip_norm);
  const OptionalDouble value = absl::GetFlag(FLAGS_clip_value);
  if (norm && value) {
    throw std::invalid_argument("both --clip_norm and --clip_value are given");
  }
  if (norm) clip = ClipNorm(*norm);
  if (value) clip = ClipValue(*value);
}

}  // namespace

Duration ParseDuration(const std::string& flag, const std::string& text) {
  const std::vector<std::string> words = Words(text, ' ');
  if (words.size() != 2) {
    Reject(flag, text, "a number and a unit, e.g. \"5 epochs\"");
  }
  const double amount = ParseAmount(flag, text, words[0]);
  return {.unit = ParseUnit(flag, text, words[1]), .amount = amount};
}

Period ParsePeriod(const std::string& flag, const std::string& text) {
  const std::vector<std::string> words = Words(text, ' ');
  if (words.size() == 1 && words[0] == "never") return Never();
  if (words.size() == 3 && words[0] == "at") {
    const TrainUnit unit = ParseUnit(flag, text, words[1]);
    std::vector<double> amounts;
    for (const std::string& amount : Words(words[2], ',')) {
      amounts.push_back(ParseAmount(flag, text, amount));
    }
    return At(Points(unit, std::move(amounts)));
  }
  if (words.size() == 3 && words[0] == "every") {
    return Every(ParseDuration(flag, words[1] + " " + words[2]));
  }
  return Every(ParseDuration(flag, text));
}

TrainOptions WithRunFlags(TrainOptions options) {
  if (const OptionalText length = absl::GetFlag(FLAGS_length)) {
    options.length = ParseDuration("length", *length);
  }
  if (const OptionalText at_most = absl::GetFlag(FLAGS_at_most)) {
    options.at_most = ParseDuration("at_most", *at_most);
  }
  Set(absl::GetFlag(FLAGS_per_device_batch_size),
      options.per_device_batch_size);
  Set(absl::GetFlag(FLAGS_max_micro_batch_size), options.max_micro_batch_size);
  Set(absl::GetFlag(FLAGS_grad_accum_steps), options.grad_accum_steps);
  ApplyClipFlags(options.clip);
  if (const OptionalText schedule = absl::GetFlag(FLAGS_schedule)) {
    options.schedule = ParseSchedule(*schedule);
  }
  Set(absl::GetFlag(FLAGS_max_dropped_updates), options.max_dropped_updates);
  SetPeriod("evaluate", absl::GetFlag(FLAGS_evaluate), options.evaluate);
  Set(absl::GetFlag(FLAGS_evaluate_at_start), options.evaluate_at_start);
  Set(absl::GetFlag(FLAGS_eval_per_device_batch_size),
      options.eval_per_device_batch_size);
  SetPeriod("report", absl::GetFlag(FLAGS_report), options.report);
  ApplyCheckpointFlags(options.checkpoint);
  ApplyResumeFlags(options);
  ApplyLoaderFlags(options.loader);
  Set(absl::GetFlag(FLAGS_max_batches_per_epoch),
      options.max_batches_per_epoch);
  Set(absl::GetFlag(FLAGS_max_eval_batches), options.max_eval_batches);
  Set(absl::GetFlag(FLAGS_reset_history), options.reset_history);
  Set(absl::GetFlag(FLAGS_handle_signals), options.handle_signals);
  return options;
}

}  // namespace trainyard

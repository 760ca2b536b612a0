// What lives as long as one call of Trainer::Train. Private to the trainer.
#ifndef TRAINYARD_TRAINER_TRAINER_RUN_H_
#define TRAINYARD_TRAINER_TRAINER_RUN_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "callbacks/callback_handler.h"
#include "tracking/metrics.h"
#include "trainer/data/loader.h"
#include "trainer/events.h"
#include "trainer/loop/cancellation.h"
#include "trainer/loop/run_checkpoints.h"
#include "trainer/loop/step_runner.h"
#include "trainer/run_config.h"
#include "trainer/schedule_set.h"
#include "trainer/state.h"
#include "trainer/train_options.h"
#include "trainer/train_unit.h"
#include "trainer/trainer.h"

namespace trainyard {

// What an evaluation's loader is made for: this process's part of the data or,
// for a task that sees a whole dataset, all of it.
LoaderRequest EvalRequest(const Task& task, const Backend& backend,
                          const DatasetPtr& data, int64_t batch_size);

// Throws c10::ValueError if two callbacks evaluate other weights under one
// prefix: their metrics would have the same names.
void CheckPrefixes(const CallbackHandler& callbacks);

struct Trainer::Run {
  struct Eval {
    std::string name;
    Loader loader;
  };
  using Clock = std::chrono::steady_clock;

  Run(const TrainOptions& run_options, Task& task, Backend& backend);

  double SecondsSinceStart() const;
  // The same on all processes, if something is due by the clock: they must
  // agree on when. Collective: all ranks must call it.
  double AgreedSeconds(Backend& backend) const;

  const TrainOptions& options;
  Loader loader;
  std::vector<Eval> evals;
  const RunConfig config;
  ScheduleSet schedules;
  std::optional<StepRunner> steps;
  std::optional<Cancellation> cancellation;
  std::optional<RunCheckpoints> checkpoints;
  const Clock::time_point start = Clock::now();
  // Of earlier parts of a resumed run.
  double seconds_before = 0;
  int64_t samples_before = 0;

  RunResult result;
  Progress progress;
  // The progress before the last batch: what has been passed since is due.
  Progress before;
  // In batches of the run: where the last ones were made; -1: nowhere.
  int64_t evaluated_at = -1;
  int64_t reported_at = 0;
  // Whether a report comes right after the checkpoint being made: a run that
  // goes on from there makes it.
  bool report_due = false;
  int64_t saved_at = -1;
  double eval_seconds = 0;
  // What stood where at the start of the window under way, for a run that is
  // saved within it and goes on with another number of processes: gradients of
  // half a window are one process's own.
  struct Position {
    std::map<std::string, State> parts;
    MetricMeans epoch_means, report_means;
  };
  Position window_start;
  // Of the latest evaluation.
  Metrics eval_metrics;
  MetricMeans epoch_means;
  // Kept only if somebody hears the report.
  bool reports = false;
  MetricMeans report_means;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TRAINER_RUN_H_

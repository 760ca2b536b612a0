// Evaluator runs a task over its evaluation sets, without gradients and with
// the models in evaluation mode. Metrics are named after the set: "eval_loss",
// "eval_accuracy". They are means over all records, or what the task's
// EvalReducers make of them.
//
//   Evaluator evaluator({task, backend, callbacks, &history}, {});
//   evaluator.Add("eval", task.EvalLoader(request));
//   const Metrics metrics = evaluator.Evaluate(clock);
//
// For each set it fires EvalStart, EvalStepStart and EvalStepEnd per batch,
// and, once the metrics are in the history, EvalEnd. Callbacks that are
// OtherWeights have all sets evaluated again with their weights.
//
// The models stay in evaluation mode. Thread-compatible. Borrows its parts.
#ifndef TRAINYARD_TRAINER_LOOP_EVALUATOR_H_
#define TRAINYARD_TRAINER_LOOP_EVALUATOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback_handler.h"
#include "tracking/run_history.h"
#include "trainer/data/batch_source.h"
#include "trainer/data/load_options.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"
#include "trainer/task.h"

namespace trainyard {

class Evaluator {
 public:
  struct Parts {
    Task& task;
    Backend& backend;
    CallbackHandler& callbacks;
    // Where metrics are recorded. Null: nowhere.
    RunHistory* history = nullptr;
  };

  struct Options {
    // Evaluates at most this many batches of each set.
    std::optional<int64_t> max_batches = std::nullopt;
    // Whether callbacks' OtherWeights are evaluated too.
    bool other_weights = true;
  };

  Evaluator(const Parts& parts, const Options& options)
      : parts_(parts), options_(options) {}

  // What the loader of an evaluation set is made for: this rank's share of the
  // data or, for a task that evaluates a whole dataset, all of it.
  LoaderRequest Request(const DatasetPtr& data, int64_t batch_size,
                        const LoadOptions& load = {}) const;

  void Add(std::string name, std::unique_ptr<BatchSource> source);

  bool empty() const { return sets_.empty(); }
  // Of all sets together. Unset: the length of one is unknown.
  std::optional<int64_t> num_batches() const;

  // Evaluates all sets and returns their metrics. Throws c10::ValueError if two
  // callbacks have OtherWeights with the same prefix. Collective: all ranks
  // must call it.
  const Metrics& Evaluate(const RunClock& clock);

  // Throws as Evaluate does for equal prefixes.
  void CheckPrefixes() const;

  // The metrics of the latest evaluation.
  const Metrics& latest() const { return latest_; }
  void set_latest(Metrics metrics) { latest_ = std::move(metrics); }

 private:
  struct Set {
    std::string name;
    std::unique_ptr<BatchSource> source;
  };

  void EvaluateSets(const std::string& prefix, const RunClock& clock);
  Metrics EvaluateSet(const std::string& name, BatchSource& source,
                      const RunClock& clock);
  Metrics EvaluateByBatch(BatchSource& source, std::optional<int64_t> batches,
                          const RunClock& clock);
  Metrics EvaluateDataset(BatchSource& source, const RunClock& clock);

  Parts parts_;
  Options options_;
  std::vector<Set> sets_;
  Metrics latest_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_EVALUATOR_H_

// Where the batches of a TrainingRun come from.
#include "trainer/data/load_options.h"
#include "trainer/loop/training_run.h"

namespace trainyard {

std::unique_ptr<BatchSource> TrainingRun::MakeTrainSource() const {
  const LoaderRequest request{.data = options_.data,
                              .batch_size = MicroBatchOf(options_).size,
                              .seed = options_.seed,
                              .rank = parts_.backend.rank(),
                              .num_ranks = parts_.backend.num_processes(),
                              .load = options_.loader};
  return options_.source != nullptr ? options_.source(request)
                                    : parts_.task.TrainLoader(request);
}

void TrainingRun::AddEvalSets() {
  const auto add = [this](const EvalSet& set) {
    const LoaderRequest request = evaluator_.Request(
        set.data, EvalBatchSizeOf(options_), EvalLoadOf(options_));
    evaluator_.Add(set.name, set.source != nullptr
                                 ? set.source(request)
                                 : parts_.task.EvalLoader(request));
  };
  if (options_.eval_data != nullptr) {
    add({.name = "eval", .data = options_.eval_data});
  }
  for (const EvalSet& set : options_.eval_sets) add(set);
}

}  // namespace trainyard

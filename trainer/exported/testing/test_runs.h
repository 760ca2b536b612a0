// Short training runs of the models in trainer/exported/testdata, for the tests
// of exported and compiled models.
//
//   const auto model = LoadTestModel("conv");
//   …
//   return TrainOnCorners(trainer, optimizer, options, stop_at);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_EXPORTED_TESTING_TEST_RUNS_H_
#define TRAINYARD_TRAINER_EXPORTED_TESTING_TEST_RUNS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/exported/compiled_step.h"
#include "trainer/exported/exported_model.h"
#include "trainer/optim/optimizer.h"
#include "trainer/trainer.h"

namespace trainyard {

// "mlp", "conv" or "transformer".
std::shared_ptr<ExportedModel> LoadTestModel(const std::string& name);

// Why the compiled steps cannot run here: they were compiled by one release of
// PyTorch for x86-64 with AVX2. Empty if they can.
std::string WhyNoTestSteps();

// The compiled step of "mlp" or "conv".
std::shared_ptr<CompiledStep> LoadTestStep(
    const std::string& name, const std::shared_ptr<ExportedModel>& model);

// Images of four classes for "conv": each class is bright in another corner.
DatasetPtr CornerImages(int64_t count);

struct RunOutcome {
  // Of the weights and the optimizer's state.
  uint32_t crc = 0;
  std::vector<double> losses;
  // Of evaluation.
  std::vector<double> accuracies;

  bool operator==(const RunOutcome&) const = default;
};

// Trains on 40 of these images and evaluates on the same, with seed 3. Requests
// a stop after `stop_at` steps. `accuracy` is the metric of the outcome.
RunOutcome TrainOnCorners(Trainer& trainer, Optimizer& optimizer,
                          TrainOptions options, std::optional<int64_t> stop_at,
                          const std::string& accuracy = "eval_accuracy");

// Expects that a run which is stopped after each of `stops` steps, and resumed
// from its checkpoint by new objects, ends as the uninterrupted run. `train`
// runs once, with these options.
void ExpectResumesToTheBit(
    const std::function<RunOutcome(const TrainOptions& options,
                                   std::optional<int64_t> stop_at)>& train,
    const TrainOptions& options, const std::vector<int64_t>& stops);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_TESTING_TEST_RUNS_H_

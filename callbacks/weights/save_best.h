// SaveBest saves the weights with the best values of a metric to files, and
// loads the best ones into the model when the run ends.
//
//   trainer.Add(SaveBest(trainer.task().NamedTensors(),
//                        {.directory = "runs/first/best"}));
//
// The files are plain safetensors, `step-<updates>.safetensors`, and
// `best.safetensors` is a link to the best. They are written when the metric is
// measured, also by an evaluation within an epoch. A new run in the same folder
// renames the files of an earlier one to `old-…`.
//
// Its state is the list of files: a resumed run continues with them. Files that
// the last three checkpoints name are not removed. With several ranks, add it
// on all of them.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_WEIGHTS_SAVE_BEST_H_
#define TRAINYARD_CALLBACKS_WEIGHTS_SAVE_BEST_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "callbacks/callback.h"
#include "callbacks/stopping/metric_watch.h"
#include "callbacks/weights/weights_folder.h"
#include "trainer/better.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/model/named_tensor.h"
#include "trainer/state.h"

namespace trainyard {

struct SaveBestOptions {
  // For these files only. Created if it does not exist. Required.
  std::string directory;
  // A name of the history, of evaluation or training.
  std::string metric = "eval_loss";
  Better better = Better::kLower;
  // How many files to keep. REQUIRES: >= 1.
  int64_t keep = 1;
  // Whether to load the best weights when a run ends without an error.
  bool reload = true;
  // Whether a second run of the trainer starts without the best value of the
  // first.
  bool reset_on_run = true;
};

class SaveBest final : public Callback, public Stateful {
 public:
  // Weights that were saved.
  struct Saved {
    // Updates that had been made.
    int64_t step = 0;
    // Counted from 1.
    int64_t epoch = 0;
    double value = 0;
  };

  // Shares the tensors of `weights`. Throws std::invalid_argument, which names
  // the option, for a bad one.
  SaveBest(std::vector<NamedTensor> weights, SaveBestOptions options);

  // After the callbacks that record metrics, like EarlyStopping.
  int priority() const override { return 50; }

  // Each throws std::runtime_error on all ranks if a file cannot be written
  // or, at the end, if none can be read.
  void OnRunStart(const RunStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

  State SaveState() const override;
  void LoadState(const State& state) override;

  // Best first. Empty before the first value that is not NaN.
  const std::vector<Saved>& saved() const { return saved_; }
  std::string PathOf(const Saved& saved) const {
    return folder_.PathOf(saved.step);
  }

 private:
  bool main() const { return backend_->rank() == 0; }
  at::Tensor FromMain(const at::Tensor& mine) const;
  void Judge(double value, const RunClock& clock);
  void Write(const Saved& saved);
  void PointToBest() const;
  void ForgetMissing();
  void Reload();

  std::vector<NamedTensor> weights_;
  SaveBestOptions options_;
  MetricWatch watch_;
  WeightsFolder folder_;
  std::vector<Saved> saved_;
  // Whether the folder may have files of another run.
  bool foreign_files_ = true;
  // Of the run; null before it starts. With several ranks all of them have the
  // callback: rank 0 writes the files, and sends the others what it reads.
  Backend* backend_ = nullptr;
  // The files that the latest checkpoints name: a run may resume from each.
  mutable std::deque<std::set<int64_t>> in_checkpoints_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_SAVE_BEST_H_

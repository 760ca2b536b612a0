// SaveBest keeps the weights with the best values of a metric in files, and
// puts the best ones back into the model when the run ends.
//
//   trainer.Add(SaveBest(trainer.task().NamedTensors(),
//                        {.directory = "runs/first/best"}));
//
// The files are plain safetensors, `step-<updates>.safetensors`, and
// `best.safetensors` is a link to the best. They are written when the metric is
// measured: of an evaluation within an epoch, too. A new run in the same folder
// renames those of an earlier one to `old-…`.
//
// Its state is the list of files: a resumed run continues with them. Files that
// the last three checkpoints name are not removed. With several ranks, add it
// on all of them.
//
// Thread-compatible: the loop calls it from one thread.
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
  // Made if need be; for these files only. Required.
  std::string directory;
  // Any name of the history: an evaluation's or training's own.
  std::string metric = "eval_loss";
  Better better = Better::kLower;
  // How many of the best stay. REQUIRES: >= 1.
  int64_t keep = 1;
  // Whether the model has the best weights when a run ends, but for an error.
  bool reload = true;
  // A second run starts without the first one's best.
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

  // As EarlyStopping, and for the same reason.
  int priority() const override { return 50; }

  // Each throws std::runtime_error on all ranks if a file cannot be written
  // or, at the end, if none can be read.
  void OnRunStart(const RunStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

  State SaveState() const override;
  void LoadState(const State& state) override;

  // Best first; empty before the first value that is a number.
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
  // What the latest checkpoints name: one of them is the next to go on from.
  mutable std::deque<std::set<int64_t>> in_checkpoints_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_SAVE_BEST_H_

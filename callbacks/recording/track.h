// Track writes down what a run measures, in a folder that `//tools/report`
// and TensorBoard show:
//
//   run.json          how it was started: configuration, host, callbacks
//   metrics.jsonl     a line per row of numbers; metrics.csv, the same as CSV
//   tensorboard/      an event file
//
//   Track track({.run_dir = "runs/first", .values = {{"lr", [&] {
//                  return optimizer.Field(0, "lr");
//                }}}});
//   trainer.Add(track);
//
// Rows, each at the number of updates done: at every report its means
// ("train_loss"), `values`, "epoch", "samples" and "samples_per_second" of
// training alone; at every evaluation its metrics ("eval_loss"); at an epoch's
// end what else is new in the history, with "epoch/" in front, and how long it
// took.
//
// Its state is the length of the files and of the history: a resumed run cuts
// the files back to it, so that no row is missing or there twice. A new run in
// the same folder moves the files aside. Add it on rank 0 only.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RECORDING_TRACK_H_
#define TRAINYARD_CALLBACKS_RECORDING_TRACK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "callbacks/callback.h"
#include "callbacks/clock.h"
#include "tracking/run_info.h"
#include "tracking/sinks/tracker.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/run_clock.h"
#include "trainer/state.h"

namespace trainyard {

struct TrackOptions {
  // Made if need be. Required.
  std::string run_dir;
  bool jsonl = true;
  bool csv = true;
  bool tensorboard = true;
  // Added to the row of each report, read when it is made.
  std::vector<std::pair<std::string, std::function<double()>>> values = {};
  // Shown with the run, beside the run's own configuration.
  RunInfo::Pairs config = {};
  // Who runs when, e.g. [&] { return trainer.callbacks().Describe(); }.
  std::function<std::string()> hooks = nullptr;
  SecondsClock clock = SteadySeconds;
};

class Track final : public Callback, public Stateful {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit Track(TrackOptions options);

  // For what is not a number: histograms, images, texts.
  Tracker& tracker() { return *tracker_; }

  // After others: what they record is written with it.
  int priority() const override { return 100; }

  // Waits until all is on the disk.
  State SaveState() const override;
  void LoadState(const State& state) override;

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnReport(const Report& e, Control&) override;
  void OnEvalStart(const EvalStart& e, Control&) override;
  void OnEvalEnd(const EvalEnd& e, Control&) override;
  void OnEpochEnd(const EpochEnd& e, Control&) override;
  void OnRunEnd(const RunEnd& e, Control&) override;

 private:
  void WriteInfo(const RunStart& e) const;
  void StartReport(const RunClock& clock);
  void AddNews(int64_t step, const RunHistory& history, tracking::Row row);

  TrackOptions options_;
  std::unique_ptr<Tracker> tracker_;
  // Where the files of the loaded state end.
  Tracker::Positions positions_;
  // How many values of each metric of the history were there at the last look.
  std::map<std::string, int64_t> seen_;
  // Metrics that are written when they are measured.
  std::set<std::string> evaluated_;
  bool running_ = false;
  double epoch_start_ = 0;
  double eval_start_ = 0;
  double eval_seconds_ = 0;
  // Since the last report, or the epoch's start.
  std::optional<double> report_start_;
  double report_eval_seconds_ = 0;
  int64_t report_samples_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_TRACK_H_

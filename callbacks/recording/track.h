// Track writes the metrics of a run to a folder that `//tools/report` and
// TensorBoard show:
//
//   run.json          how the run was started: configuration, host, callbacks
//   metrics.jsonl     a line per row of numbers; metrics.csv, the same as CSV
//   tensorboard/      an event file
//
//   Track track({.run_dir = "runs/first", .values = {{"lr", [&] {
//                  return optimizer.Field(0, "lr");
//                }}}});
//   trainer.Add(track);
//
// It writes a row, with the number of updates, for every report: its means
// ("train_loss"), `values`, "epoch", "samples", and "samples_per_second" of
// training alone; for every evaluation: its metrics ("eval_loss"); and for
// every epoch: its duration and what else is new in the history, as
// "epoch/<name>".
//
// Its state is the length of the files and of the history: a resumed run
// truncates the files to it, so that every row is there once. A new run in the
// same folder renames existing files. Add it on rank 0 only.
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
  // Created if it does not exist. Required.
  std::string run_dir;
  bool jsonl = true;
  bool csv = true;
  bool tensorboard = true;
  // Added to the row of each report, and read then.
  std::vector<std::pair<std::string, std::function<double()>>> values = {};
  // Shown with the run's own configuration.
  RunInfo::Pairs config = {};
  // A table of callbacks, e.g. [&] { return trainer.callbacks().Describe(); }.
  std::function<std::string()> hooks = nullptr;
  SecondsClock clock = SteadySeconds;
};

class Track final : public Callback, public Stateful {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit Track(TrackOptions options);

  // For histograms, images and texts.
  Tracker& tracker() { return *tracker_; }

  // After other callbacks, so that what they record is written with it.
  int priority() const override { return 100; }

  // Waits until everything is on the disk.
  State SaveState() const override;
  void LoadState(const State& state) override;

  void OnRunStart(const RunStart& e, Control&) override;
  void OnEpochStart(const EpochStart& e, Control&) override;
  void OnMetricsReport(const MetricsReport& e, Control&) override;
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
  // The number of values of each metric of the history that were written.
  std::map<std::string, int64_t> seen_;
  // Metrics of evaluations, which are written when they are measured.
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

#include "callbacks/recording/track.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tracking/run_history.h"
#include "tracking/sinks/csv.h"
#include "tracking/sinks/jsonl.h"
#include "tracking/sinks/tensorboard.h"

namespace trainyard {
namespace {

// What the names in its state begin with.
const std::string kPosition = "position/";
const std::string kSeen = "seen/";
const std::string kEvaluated = "evaluated/";

std::unique_ptr<Tracker> MakeTracker(const TrackOptions& options) {
  std::vector<std::unique_ptr<Sink>> sinks;
  const std::string& folder = options.run_dir;
  if (options.jsonl) sinks.push_back(MakeJsonLines(folder + "/metrics.jsonl"));
  if (options.csv) sinks.push_back(MakeCsv(folder + "/metrics.csv"));
  if (options.tensorboard) {
    sinks.push_back(MakeTensorBoard(folder + "/tensorboard"));
  }
  return std::make_unique<Tracker>(std::move(sinks));
}

}  // namespace

Track::Track(TrackOptions options) : options_(std::move(options)) {
  if (options_.run_dir.empty()) {
    throw std::invalid_argument("Track: run_dir is empty");
  }
  if (options_.clock == nullptr) {
    throw std::invalid_argument("Track: clock is empty");
  }
  for (const auto& [name, read] : options_.values) {
    if (read == nullptr) {
      throw std::invalid_argument("Track: values has nothing to read for \"" +
                                  name + "\"");
    }
  }
  std::error_code error;
  std::filesystem::create_directories(options_.run_dir, error);
  if (error) {
    throw std::invalid_argument("Track: run_dir is " + options_.run_dir +
                                ", which cannot be made: " + error.message());
  }
  tracker_ = MakeTracker(options_);
}

State Track::SaveState() const {
  State state;
  for (const auto& [name, position] : tracker_->Save()) {
    state.Set(kPosition + name, position);
  }
  for (const auto& [name, count] : seen_) state.Set(kSeen + name, count);
  for (const std::string& name : evaluated_) {
    state.Set(kEvaluated + name, int64_t{1});
  }
  return state;
}

void Track::LoadState(const State& state) {
  state.CheckVersion(1);
  Tracker::Positions positions;
  std::map<std::string, int64_t> seen;
  std::set<std::string> evaluated;
  for (const auto& [name, value] : state.values()) {
    const auto number = state.Get<int64_t>(name);
    if (name.starts_with(kPosition)) {
      positions[name.substr(kPosition.size())] = number;
    } else if (name.starts_with(kSeen)) {
      seen[name.substr(kSeen.size())] = number;
    } else if (name.starts_with(kEvaluated)) {
      evaluated.insert(name.substr(kEvaluated.size()));
    } else {
      throw std::invalid_argument("Track: its state has no \"" + name + "\"");
    }
  }
  positions_ = std::move(positions);
  seen_ = std::move(seen);
  evaluated_ = std::move(evaluated);
}

void Track::WriteInfo(const RunStart& e) const {
  RunInfo info = RunInfoOfThisProcess();
  info.resumed_at = e.resumed ? e.clock.updates() : 0;
  info.config = options_.config;
  for (auto& field : e.config.Fields()) {
    info.config.push_back(std::move(field));
  }
  if (options_.hooks) info.hooks = options_.hooks();
  const absl::Status written =
      WriteRunInfo(info, options_.run_dir + "/run.json");
  if (!written.ok()) throw std::runtime_error(std::string(written.message()));
}

void Track::OnRunStart(const RunStart& e, Control&) {
  WriteInfo(e);
  if (!e.resumed) {
    positions_.clear();
    seen_.clear();
    evaluated_.clear();
  }
  tracker_->Start(positions_);
  report_start_.reset();
  running_ = true;
}

void Track::StartReport(const RunClock& clock) {
  report_start_ = options_.clock();
  report_eval_seconds_ = 0;
  report_samples_ = clock.samples();
}

void Track::OnEpochStart(const EpochStart& e, Control&) {
  epoch_start_ = options_.clock();
  eval_seconds_ = 0;
  StartReport(e.clock);
}

void Track::OnMetricsReport(const MetricsReport& e, Control&) {
  tracking::Row row(e.metrics.begin(), e.metrics.end());
  for (const auto& [name, read] : options_.values) {
    row.emplace_back(name, read());
  }
  row.emplace_back("epoch",
                   static_cast<double>(e.clock.epoch_of_last_batch() + 1));
  row.emplace_back("samples", static_cast<double>(e.clock.samples()));
  const double seconds =
      report_start_ ? options_.clock() - *report_start_ - report_eval_seconds_
                    : 0;
  if (seconds > 0) {
    row.emplace_back(
        "samples_per_second",
        static_cast<double>(e.clock.samples() - report_samples_) / seconds);
  }
  StartReport(e.clock);
  tracker_->Add(e.clock.updates(), std::move(row));
}

void Track::OnEvalStart(const EvalStart&, Control&) {
  eval_start_ = options_.clock();
}

void Track::OnEvalEnd(const EvalEnd& e, Control&) {
  const double seconds = options_.clock() - eval_start_;
  eval_seconds_ += seconds;
  report_eval_seconds_ += seconds;
  if (!running_) return;
  for (const auto& [name, value] : e.metrics) evaluated_.insert(name);
  if (e.metrics.empty()) return;
  tracker_->Add(e.clock.updates(),
                tracking::Row(e.metrics.begin(), e.metrics.end()));
}

void Track::AddNews(int64_t step, const RunHistory& history,
                    tracking::Row row) {
  for (const std::string& name : history.Names()) {
    const std::vector<double> values = history.Values(name);
    const auto count = static_cast<int64_t>(values.size());
    if (count > seen_[name] && !evaluated_.count(name)) {
      row.emplace_back("epoch/" + name, values.back());
    }
    seen_[name] = count;
  }
  if (!row.empty()) tracker_->Add(step, std::move(row));
}

void Track::OnEpochEnd(const EpochEnd& e, Control&) {
  AddNews(e.clock.updates(), e.history,
          {{"epoch", static_cast<double>(e.clock.epoch() + 1)},
           {"samples", static_cast<double>(e.clock.samples())},
           {"epoch/seconds", options_.clock() - epoch_start_},
           {"epoch/eval_seconds", eval_seconds_}});
}

void Track::OnRunEnd(const RunEnd& e, Control&) {
  if (!running_) return;
  running_ = false;
  AddNews(e.clock.updates(), e.history, {});
  tracker_->Flush();
  const std::string error = tracker_->error();
  // The training is what matters: it ends as it would have without us.
  if (!error.empty()) {
    std::fprintf(stderr, "Track: not all of the run was written: %s\n",
                 error.c_str());
  }
}

}  // namespace trainyard

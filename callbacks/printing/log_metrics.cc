#include "callbacks/printing/log_metrics.h"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "callbacks/printing/prints_here.h"
#include "callbacks/printing/readable.h"

namespace trainyard {

void PrintMetrics(int64_t epoch, const Metrics& metrics) {
  std::string line = "Epoch " + std::to_string(epoch);
  const char* separator = ": ";
  for (const auto& [name, value] : metrics) {
    line += separator + name + " " + ReadableValue(value);
    separator = ", ";
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

LogMetrics::LogMetrics(LogMetricsOptions options)
    : options_(std::move(options)) {
  if (options_.log == nullptr) {
    throw std::invalid_argument("LogMetrics: log is empty");
  }
}

void LogMetrics::OnRunStart(const RunStart& e, Control&) {
  prints_ = PrintsHere(e.backend, options_.every_rank);
  news_.Reset();
  waiting_.clear();
}

void LogMetrics::OnTrainEpochEnd(const TrainEpochEnd& e, Control&) {
  Metrics training;
  for (auto& [name, value] : news_.Take(e.history)) {
    (name.starts_with("train_") ? training : waiting_)[name] = value;
  }
  Log(e.clock.epoch() + 1, training);
}

void LogMetrics::OnEpochEnd(const EpochEnd& e, Control&) {
  Metrics others = std::exchange(waiting_, {});
  for (auto& [name, value] : news_.Take(e.history)) others[name] = value;
  Log(e.clock.epoch() + 1, others);
}

void LogMetrics::OnRunEnd(const RunEnd& e, Control&) {
  Metrics rest = std::exchange(waiting_, {});
  for (auto& [name, value] : news_.Take(e.history)) rest[name] = value;
  // A run that finished has counted its last epoch already.
  const bool finished = e.ending == RunEnding::kFinished;
  Log(finished ? e.clock.epoch() : e.clock.epoch() + 1, rest);
}

void LogMetrics::Log(int64_t epoch, const Metrics& metrics) {
  if (prints_ && !metrics.empty()) options_.log(epoch, metrics);
}

}  // namespace trainyard

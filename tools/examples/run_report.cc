#include "tools/examples/run_report.h"

#include <absl/strings/str_format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tracking/run_summary.h"
#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

RunSummary Summarise(const Trainer& trainer, const Optimizer& optimizer,
                     const RunResult& result) {
  RunSummary summary{
      .epochs = result.clock.epoch(),
      .updates = result.clock.updates(),
      .samples = result.clock.samples(),
      .seconds = result.seconds,
      .samples_per_second =
          static_cast<double>(result.samples) / result.train_seconds,
      .state_crc32c = StateCrc32c(optimizer.NamedTensors(),
                                  StateCrc32c(trainer.task().NamedTensors()))};
  for (const std::string& name : trainer.history().Names())
    summary.metrics[name] = trainer.history().Latest(name);
  return summary;
}

std::string Ending(const RunResult& result) {
  switch (result.ending) {
    case RunEnding::kStopped:
      return "stopped (" + result.message + ")";
    case RunEnding::kCancelled:
      return "cancelled (" + result.message + ")";
    default:
      return result.message.empty() ? "finished"
                                    : "finished (" + result.message + ")";
  }
}

void Print(const RunSummary& summary, const RunResult& result) {
  absl::PrintF(
      "\n%s: %d %s, %d updates, %d samples in %.1f s (%.0f samples/s)\n",
      Ending(result), summary.epochs, summary.epochs == 1 ? "epoch" : "epochs",
      summary.updates, summary.samples, summary.seconds,
      summary.samples_per_second);
  int width = 14;
  for (const auto& [name, value] : summary.metrics) {
    width = std::max(width, static_cast<int>(name.size()));
  }
  for (const auto& [name, value] : summary.metrics) {
    absl::PrintF("  %-*s %.4f\n", width, name, value);
  }
  absl::PrintF("  %-*s %08x\n", width, "state_crc32c", summary.state_crc32c);
}

void CheckWritable(const std::string& folder, const std::string& file) {
  if (access(folder.c_str(), W_OK) != 0)
    throw std::runtime_error(file +
                             ": its folder does not exist or is not writable");
}

}  // namespace

RunReport::RunReport(RunReportOptions options) : options_(std::move(options)) {
  if (!options_.run_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options_.run_dir, error);
    if (error)
      throw std::runtime_error(
          options_.run_dir + ": cannot create the folder: " + error.message());
    CheckWritable(options_.run_dir, options_.run_dir + "/summary.json");
  }
  if (!options_.summary_json.empty()) {
    const std::string folder =
        std::filesystem::absolute(options_.summary_json).parent_path();
    CheckWritable(folder, options_.summary_json);
  }
}

void RunReport::Finish(const Trainer& trainer, const Optimizer& optimizer,
                       const RunResult& result) const {
  const RunSummary summary = Summarise(trainer, optimizer, result);
  Print(summary, result);
  if (!options_.run_dir.empty())
    OrThrow(WriteRunSummary(summary, options_.run_dir + "/summary.json"));
  if (!options_.summary_json.empty())
    OrThrow(WriteRunSummary(summary, options_.summary_json));
}

}  // namespace trainyard

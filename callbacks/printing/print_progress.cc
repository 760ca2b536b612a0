#include "callbacks/printing/print_progress.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "callbacks/printing/prints_here.h"
#include "callbacks/printing/readable.h"

namespace trainyard {
namespace {

std::string Count(int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string Describe(RunEnding ending, const std::string& message) {
  switch (ending) {
    case RunEnding::kFinished:
      return "Finished";
    case RunEnding::kStopped:
      return "Stopped (" + message + ")";
    case RunEnding::kCancelled:
      return "Cancelled (" + message + ")";
    case RunEnding::kError:
      return "Failed (" + message + ")";
  }
  return "Ended";
}

}  // namespace

PrintProgress::PrintProgress(PrintProgressOptions options)
    : options_(std::move(options)) {
  if (options_.output == nullptr) {
    throw std::invalid_argument("PrintProgress: output is null");
  }
  if (options_.clock == nullptr) {
    throw std::invalid_argument("PrintProgress: clock is empty");
  }
}

void PrintProgress::OnRunStart(const RunStart& e, Control&) {
  prints_ = PrintsHere(e.backend, options_.every_rank);
  start_ = options_.clock();
  const RunConfig& config = e.config;
  std::string line = "Training on " + config.device + " (" + config.backend;
  if (config.num_processes > 1) {
    line += ", " + std::to_string(config.num_processes) + " processes";
  }
  line += "): ";
  if (config.num_epochs) line += Count(*config.num_epochs, "epoch") + " of ";
  if (config.batches_per_epoch) {
    line += std::to_string(*config.batches_per_epoch) + " ";
  }
  line += "batches of " + std::to_string(config.per_device_batch_size) + ", " +
          Count(config.total_updates, "update");
  Print(line);
}

void PrintProgress::OnEpochStart(const EpochStart& e, Control&) {
  Print("Epoch " + e.config.EpochLabel(e.clock.epoch()));
}

void PrintProgress::OnRunEnd(const RunEnd& e, Control&) {
  const std::string line =
      Describe(e.ending, e.message) + " after " +
      Count(e.clock.epoch(), "epoch") + ", " +
      Count(e.clock.updates(), "update") + ", " +
      ReadableCount(static_cast<double>(e.clock.samples())) + " samples in " +
      ReadableSeconds(options_.clock() - start_);
  Print(line);
}

void PrintProgress::Print(const std::string& line) {
  if (!prints_) return;
  std::fprintf(options_.output, "%s\n", line.c_str());
  std::fflush(options_.output);
}

}  // namespace trainyard

#include "trainer/loop/format1.h"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "trainer/state.h"

namespace trainyard {
namespace {

constexpr char kWindowStart[] = "window start ";

// A number of the run's configuration, which holds texts.
int64_t ConfigNumber(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.config.find(name);
  if (found == checkpoint.config.end()) {
    throw std::invalid_argument("the checkpoint's configuration has no \"" +
                                name + "\"");
  }
  return std::stoll(found->second);
}

void CopyProgress(const State& from, const std::string& from_name, State& to,
                  const std::string& to_name) {
  for (const char* unit : {"batches", "updates", "samples", "epochs"}) {
    to.Set(to_name + unit, from.Get<int64_t>(from_name + unit));
  }
  to.Set(to_name + "seconds", from.Get<double>(from_name + "seconds"));
}

// The part "counters" held the clock and the three milestones.
State ClockOf(const State& counters, const State& loader,
              const Checkpoint& checkpoint) {
  State clock;
  CopyProgress(counters, "progress/", clock, "progress/");
  CopyProgress(counters, "before/", clock, "previous/");
  const auto epoch_batches = counters.Get<int64_t>("batch_idx");
  clock.Set("epoch", counters.Get<int64_t>("epoch"));
  clock.Set("epoch_batches", epoch_batches);
  clock.Set("total_batch_size", ConfigNumber(checkpoint, "total_batch_size"));
  // What the epoch had done was not saved: as if no update had been skipped,
  // and no time had passed.
  const int64_t epoch_updates =
      epoch_batches / ConfigNumber(checkpoint, "grad_accum_steps");
  const int64_t epoch_samples =
      epoch_batches > 0 ? loader.Get<int64_t>("position") : 0;
  const std::string progress = "progress/", start = "epoch_start/";
  const auto number = [&](const char* unit) {
    return counters.Get<int64_t>(progress + unit);
  };
  clock.Set(start + "batches", number("batches") - epoch_batches);
  clock.Set(start + "updates", number("updates") - epoch_updates);
  clock.Set(start + "samples", number("samples") - epoch_samples);
  clock.Set(start + "epochs", number("epochs"));
  clock.Set(start + "seconds", counters.Get<double>(progress + "seconds"));
  return clock;
}

State MilestoneOf(int64_t done_at) {
  State state;
  if (done_at >= 0) state.Set("done_at", done_at);
  return state;
}

void UpgradeCounters(const std::string& prefix, Checkpoint& checkpoint) {
  auto& parts = checkpoint.parts;
  const auto found = parts.find(prefix + "counters");
  if (found == parts.end()) return;
  const State counters = found->second;
  counters.CheckVersion(1);
  parts.erase(found);
  const auto loader = parts.find(prefix + "loader");
  if (loader == parts.end()) {
    throw std::invalid_argument("the checkpoint has no part \"" + prefix +
                                "loader\"");
  }
  parts[prefix + "clock"] = ClockOf(counters, loader->second, checkpoint);
  const auto now = counters.Get<int64_t>("progress/batches");
  parts[prefix + "milestone evaluation"] =
      MilestoneOf(counters.Get<int64_t>("evaluated_at"));
  parts[prefix + "milestone checkpoint"] = MilestoneOf(now);
  // A run that ended reported after it had saved itself, and that report was
  // not made again: as if it had been made before.
  const bool report_due = counters.Get<int64_t>("report_due") != 0;
  parts[prefix + "milestone report"] =
      MilestoneOf(report_due ? counters.Get<int64_t>("reported_at") : now);
}

}  // namespace

void UpgradeFormat1(Checkpoint& checkpoint) {
  UpgradeCounters("", checkpoint);
  UpgradeCounters(kWindowStart, checkpoint);
  const auto backend = checkpoint.parts.find("backend");
  const auto name = checkpoint.config.find("backend");
  if (backend == checkpoint.parts.end() || name == checkpoint.config.end()) {
    return;
  }
  checkpoint.parts["backend " + name->second] = backend->second;
  checkpoint.parts.erase(backend);
}

}  // namespace trainyard

// Compares the time of one training step of several loops:
//
//   tools/bazel run //tools/bench:step
//   tools/bazel run //tools/bench:step -- --only=3 --steps=400
//
// The second form runs one loop, for callgrind.
#include <ATen/Parallel.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "tools/bench/step_loops.h"
#include "tools/cli/parse_flags.h"
#include "trainer/main.h"

ABSL_FLAG(int64_t, steps, 200, "Steps per turn of a loop.");
ABSL_FLAG(int64_t, turns, 31,
          "Turns of each loop, in rotation; the median is printed.");
ABSL_FLAG(std::optional<int64_t>, only, std::nullopt,
          "Number of one loop, from 0. Unset: all loops.");

namespace {

double MillisecondsPerStep(const trainyard::StepLoop& loop, int64_t steps) {
  const auto start = std::chrono::steady_clock::now();
  loop.run(steps);
  const std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - start;
  return time.count() / static_cast<double>(steps);
}

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Compare(const std::vector<trainyard::StepLoop>& loops, int64_t steps,
             int64_t turns) {
  std::vector<std::vector<double>> times(loops.size());
  for (int64_t turn = 0; turn < turns + 1; ++turn) {
    for (size_t i = 0; i < loops.size(); ++i) {
      const double time = MillisecondsPerStep(loops[i], steps);
      if (turn > 0) times[i].push_back(time);  // the first turn warms up
    }
  }
  absl::PrintF("%-30s %9s", "loop", "ms/step");
  for (size_t i = 0; i < loops.size(); ++i) absl::PrintF("  to (%d)", i);
  absl::PrintF("\n");
  for (size_t i = 0; i < loops.size(); ++i) {
    absl::PrintF("%d %-28s %9.4f", i, loops[i].name, Median(times[i]));
    for (size_t k = 0; k < loops.size(); ++k) {
      // Ratios of consecutive turns: other load slows down both.
      std::vector<double> ratios;
      for (size_t turn = 0; turn < times[i].size(); ++turn)
        ratios.push_back(times[i][turn] / times[k][turn]);
      absl::PrintF("  %6.3f", Median(ratios));
    }
    absl::PrintF("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "compares the time of one training step between loops");
  return trainyard::Main([] {
    at::set_num_threads(1);
    const std::vector<trainyard::StepLoop> loops = trainyard::MakeStepLoops();
    const int64_t steps = absl::GetFlag(FLAGS_steps);
    if (const auto only = absl::GetFlag(FLAGS_only)) {
      loops.at(static_cast<size_t>(*only)).run(steps);
    } else {
      Compare(loops, steps, absl::GetFlag(FLAGS_turns));
    }
    return 0;
  });
}

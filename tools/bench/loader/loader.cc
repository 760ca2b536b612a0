// Compares the throughput of loaders; run.py adds Python's.
//
//   tools/bazel run //tools/bench/loader
#include <ATen/Parallel.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/bench/loader/loader_runs.h"
#include "tools/cli/parse_flags.h"
#include "trainer/main.h"

ABSL_FLAG(std::string, only, "", "Name of one run. Empty: all runs.");
ABSL_FLAG(int, threads, 1, "Number of ATen's threads.");
ABSL_FLAG(int, turns, 5,
          "Epochs of each run, in rotation; the median is printed.");
ABSL_FLAG(int64_t, items, 12000, "Samples of 50 microseconds in an epoch.");

namespace {

double Median(std::vector<trainyard::LoaderRate> rates,
              double trainyard::LoaderRate::* which) {
  std::ranges::sort(rates, {}, which);
  return rates[rates.size() / 2].*which;
}

void Compare(const std::vector<trainyard::LoaderRun>& runs, int turns) {
  const std::string only = absl::GetFlag(FLAGS_only);
  std::vector<std::vector<trainyard::LoaderRate>> rates(runs.size());
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < runs.size(); ++i) {
      if (only.empty() || only == runs[i].name)
        rates[i].push_back(runs[i].epoch());
    }
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    if (rates[i].empty()) continue;
    absl::PrintF("%-17s %10.0f %10.0f  %s\n", runs[i].name,
                 Median(rates[i], &trainyard::LoaderRate::wall),
                 Median(rates[i], &trainyard::LoaderRate::core), runs[i].what);
  }
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "compares the throughput of loaders");
  return trainyard::Main([] {
    at::set_num_threads(absl::GetFlag(FLAGS_threads));
    Compare(trainyard::LoaderRuns(absl::GetFlag(FLAGS_items)),
            absl::GetFlag(FLAGS_turns));
    return 0;
  });
}

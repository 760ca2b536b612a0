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
ABSL_FLAG(std::string, jpegs, "",
          "Folder of classes with JPEG files of one size, to run jpeg0 and "
          "jpeg2 only. Empty: all but them.");
ABSL_FLAG(bool, json, false, "Prints lines for scripts.");

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
    const double wall = Median(rates[i], &trainyard::LoaderRate::wall);
    const double core = Median(rates[i], &trainyard::LoaderRate::core);
    if (absl::GetFlag(FLAGS_json)) {
      absl::PrintF(
          "@@{\"us_per_image\": %.4f, \"core_us\": %.4f, \"what\": \"%s\"}\n",
          1e6 / wall, 1e6 / core, runs[i].what);
    } else {
      absl::PrintF("%-17s %10.0f %10.0f  %s\n", runs[i].name, wall, core,
                   runs[i].what);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "compares the throughput of loaders");
  return trainyard::Main([] {
    at::set_num_threads(absl::GetFlag(FLAGS_threads));
    const std::string folder = absl::GetFlag(FLAGS_jpegs);
    const std::vector<trainyard::LoaderRun> runs =
        folder.empty() ? trainyard::LoaderRuns(absl::GetFlag(FLAGS_items))
                       : trainyard::JpegRuns(folder);
    Compare(runs, absl::GetFlag(FLAGS_turns));
    return 0;
  });
}

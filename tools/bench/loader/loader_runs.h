// LoaderRuns makes the runs of the benchmark `loader`: one epoch over the same
// data with each of several loaders.
//
//   const std::vector<trainyard::LoaderRun> runs =
//       folder.empty() ? trainyard::LoaderRuns(absl::GetFlag(FLAGS_items))
//                      : trainyard::JpegRuns(folder);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_BENCH_LOADER_LOADER_RUNS_H_
#define TRAINYARD_TOOLS_BENCH_LOADER_LOADER_RUNS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

// Samples per second, from the first batch to the last: by wall time, and by
// processor time, which other programs on the machine disturb less.
struct LoaderRate {
  double wall = 0;
  double core = 0;
};

struct LoaderRun {
  std::string name;
  // Description for the table.
  std::string what;
  // Runs one epoch.
  std::function<LoaderRate()> epoch;
};

// The data are 60,000 shuffled images of 28 x 28 bytes, in batches of 128, as
// normalised floats; and `items` samples that take 50 microseconds each.
std::vector<LoaderRun> LoaderRuns(int64_t items);

// Decoding of the JPEG files in a folder of classes, in batches of 32, as
// normalised floats. Throws c10::ValueError.
std::vector<LoaderRun> JpegRuns(const std::string& folder);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_BENCH_LOADER_LOADER_RUNS_H_

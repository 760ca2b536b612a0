// Epochs over the same data through different loaders, for loader.cc.
#ifndef TRAINYARD_TOOLS_BENCH_LOADER_LOADER_RUNS_H_
#define TRAINYARD_TOOLS_BENCH_LOADER_LOADER_RUNS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

// Samples per second, from the first batch to the last: of a clock on the wall,
// and of one core's work, which other programs on the machine disturb less.
struct LoaderRate {
  double wall = 0;
  double core = 0;
};

struct LoaderRun {
  std::string name;
  std::string what;
  // One epoch.
  std::function<LoaderRate()> epoch;
};

// 60,000 images of 28 x 28 bytes, in batches of 128, shuffled, as normalised
// floats; and `items` samples that take 50 microseconds each.
std::vector<LoaderRun> LoaderRuns(int64_t items);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_BENCH_LOADER_LOADER_RUNS_H_

// What a step of training pays for tracking 20 numbers: the time is that of the
// loop's thread, the writing thread works beside it.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracking/sinks/record.h"
#include "tracking/sinks/tensorboard.h"
#include "tracking/sinks/tracker.h"

namespace trainyard {
namespace {

void TwentyNumbersToTensorBoard(benchmark::State& state) {
  const char* folder = std::getenv("TMPDIR");
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(MakeTensorBoard(std::string(folder ? folder : "/tmp") +
                                  "/tracker_benchmark"));
  Tracker tracker(std::move(sinks));
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back("some/metric_of_a_run_" + std::to_string(i));
  }
  int64_t step = 0;
  for (auto _ : state) {
    tracking::Row row;
    row.reserve(names.size());
    for (const std::string& name : names) row.emplace_back(name, 0.5);
    tracker.Add(++step, std::move(row));
    // A step's own work, so that the queue is not all there is.
    state.PauseTiming();
    for (int i = 0; i < 20'000; ++i) benchmark::DoNotOptimize(i);
    state.ResumeTiming();
  }
  state.counters["per_number"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * 20,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["waits"] = static_cast<double>(tracker.waits());
}
BENCHMARK(TwentyNumbersToTensorBoard)->UseRealTime();

}  // namespace
}  // namespace trainyard

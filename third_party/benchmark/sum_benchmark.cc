// The smallest benchmark: shows that Google Benchmark compiles, links and runs.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <numeric>
#include <vector>

namespace {

void Sum(benchmark::State& state) {
  const std::vector<double> values(static_cast<std::size_t>(state.range(0)),
                                   1.0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        std::accumulate(values.begin(), values.end(), 0.0));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Sum)->Range(64, 4096);

}  // namespace

// What a step pays for being watched: the event alone, and with a progress bar
// that draws ten times a second.
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>

#include "callbacks/callback_handler.h"
#include "callbacks/clock.h"
#include "callbacks/printing/progress_bar.h"
#include "trainer/data/batch.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

void FireSteps(benchmark::State& bench, CallbackHandler& handler) {
  const RunConfig config{.num_epochs = 1};
  const RunClock clock;
  const AnyBatch batch(Example{at::zeros({8}), at::zeros({8})});
  const StepOutput output{.loss = at::full({}, 0.5), .weight = 8};
  handler.Fire(EpochStart{config, clock, int64_t{1} << 40});
  for (auto _ : bench) handler.Fire(StepEnd{clock, batch, output});
}

void BM_NoCallback(benchmark::State& bench) {
  Control control;
  CallbackHandler handler(control);
  FireSteps(bench, handler);
}
BENCHMARK(BM_NoCallback);

void BM_ProgressBar(benchmark::State& bench) {
  std::FILE* nowhere = std::fopen("/dev/null", "w");
  Control control;
  CallbackHandler handler(control);
  handler.Add(ProgressBar({.output = nowhere, .force_terminal = true}));
  FireSteps(bench, handler);
  std::fclose(nowhere);
}
BENCHMARK(BM_ProgressBar);

// By a clock on which a step takes 200 us: what it costs of those, redraws with
// their look at the loss included. "share" is that part of a step.
void BM_ProgressBarAt5000StepsPerSecond(benchmark::State& bench) {
  constexpr double kStepSeconds = 200e-6;
  std::FILE* nowhere = std::fopen("/dev/null", "w");
  Control control;
  CallbackHandler handler(control);
  double now = 0;
  handler.Add(
      ProgressBar({.output = nowhere, .force_terminal = true, .clock = [&now] {
                     benchmark::DoNotOptimize(SteadySeconds());
                     return now += kStepSeconds;
                   }}));
  FireSteps(bench, handler);
  bench.counters["share"] = benchmark::Counter(
      static_cast<double>(bench.iterations()) * kStepSeconds,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  std::fclose(nowhere);
}
BENCHMARK(BM_ProgressBarAt5000StepsPerSecond);

void BM_PlainLines(benchmark::State& bench) {
  std::FILE* nowhere = std::fopen("/dev/null", "w");
  Control control;
  CallbackHandler handler(control);
  handler.Add(ProgressBar({.output = nowhere}));
  FireSteps(bench, handler);
  std::fclose(nowhere);
}
BENCHMARK(BM_PlainLines);

}  // namespace
}  // namespace trainyard

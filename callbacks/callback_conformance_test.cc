// Every built-in callback against the suite that each must pass.
#include "callbacks/testing/callback_conformance.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "callbacks/printing/epoch_table.h"
#include "callbacks/printing/log_metrics.h"
#include "callbacks/printing/print_progress.h"
#include "callbacks/printing/progress_bar.h"
#include "callbacks/recording/gradient_norm_monitor.h"
#include "callbacks/recording/learning_rate_monitor.h"
#include "callbacks/recording/memory_monitor.h"
#include "callbacks/recording/profiler.h"
#include "callbacks/recording/throughput.h"
#include "callbacks/recording/timer.h"
#include "callbacks/stopping/early_stopping.h"
#include "callbacks/stopping/max_duration.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

template <class T>
CallbackCase Plain(const char* name) {
  return {name, [](const SecondsClock&) { return std::make_unique<T>(); }};
}

// Of those that print and measure time.
template <class T>
CallbackCase Timed(const char* name) {
  return {name, [](const SecondsClock& clock) {
            return std::make_unique<T>(T({.output = stdout, .clock = clock}));
          }};
}

// Of those that watch an optimizer. It has one parameter, with a gradient.
template <class T>
CallbackCase Watching(const char* name) {
  return {name, [](const SecondsClock&) {
            static const auto optimizer = [] {
              const at::Tensor weight = at::ones({3}).requires_grad_();
              weight.mutable_grad() = at::ones({3});
              return std::make_unique<AdamW>(std::vector<at::Tensor>{weight});
            }();
            return std::make_unique<T>(*optimizer);
          }};
}

class Mine final : public Callback {};

INSTANTIATE_TEST_SUITE_P(
    Mine, CallbackConformanceTest,
    ::testing::Values(CallbackCase{
        "Mine", [](SecondsClock) { return std::make_unique<Mine>(); }}),
    CallbackCaseName);

INSTANTIATE_TEST_SUITE_P(
    BuiltIn, CallbackConformanceTest,
    ::testing::Values(
        Plain<EarlyStopping>("EarlyStopping"), Timed<EpochTable>("EpochTable"),
        Watching<GradientNormMonitor>("GradientNormMonitor"),
        Watching<LearningRateMonitor>("LearningRateMonitor"),
        Plain<LogMetrics>("LogMetrics"),
        CallbackCase{"MaxDuration",
                     [](const SecondsClock&) {
                       return std::make_unique<MaxDuration>(Seconds(1e6));
                     }},
        Plain<MemoryMonitor>("MemoryMonitor"),
        Timed<PrintProgress>("PrintProgress"),
        CallbackCase{"Profiler",
                     [](const SecondsClock&) {
                       return std::make_unique<Profiler>(ProfilerOptions{
                           .path = ::testing::TempDir() + "/trace.json",
                           .first_batch = 2});
                     }},
        Timed<ProgressBar>("ProgressBar"),
        Plain<TerminateOnNaN>("TerminateOnNaN"),
        CallbackCase{"Throughput",
                     [](const SecondsClock& clock) {
                       return std::make_unique<Throughput>(
                           ThroughputOptions{.clock = clock});
                     }},
        CallbackCase{"Timer",
                     [](const SecondsClock& clock) {
                       return std::make_unique<Timer>(
                           TimerOptions{.clock = clock});
                     }}),
    CallbackCaseName);

}  // namespace
}  // namespace trainyard

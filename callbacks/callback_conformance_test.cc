// Every built-in callback against the suite that each must pass.
#include "callbacks/callback_conformance.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "callbacks/early_stopping.h"
#include "callbacks/epoch_table.h"
#include "callbacks/log_metrics.h"
#include "callbacks/print_progress.h"
#include "callbacks/progress_bar.h"
#include "callbacks/terminate_on_nan.h"

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

INSTANTIATE_TEST_SUITE_P(
    BuiltIn, CallbackConformanceTest,
    ::testing::Values(Plain<EarlyStopping>("EarlyStopping"),
                      Timed<EpochTable>("EpochTable"),
                      Plain<LogMetrics>("LogMetrics"),
                      Timed<PrintProgress>("PrintProgress"),
                      Timed<ProgressBar>("ProgressBar"),
                      Plain<TerminateOnNaN>("TerminateOnNaN")),
    CallbackCaseName);

}  // namespace
}  // namespace trainyard

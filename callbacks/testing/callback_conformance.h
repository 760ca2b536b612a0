// A test suite for every Callback. It checks that a callback can be used for
// two runs; that it works in runs that end at once, are stopped or fail, and in
// evaluations at the start, within epochs and outside of runs; that its state,
// if it has one, can be saved and loaded; and that it does not use the global
// random generator. A callback's test instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(
//       UpdateHistory, CallbackConformanceTest,
//       ::testing::Values(CallbackCase{"UpdateHistory", [](SecondsClock) {
//         return std::make_unique<UpdateHistory>();
//       }}),
//       CallbackCaseName);
#ifndef TRAINYARD_CALLBACKS_TESTING_CALLBACK_CONFORMANCE_H_
#define TRAINYARD_CALLBACKS_TESTING_CALLBACK_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "callbacks/callback.h"
#include "callbacks/clock.h"

namespace trainyard {

struct CallbackCase {
  std::string name;
  // Makes a callback, which may use `clock` to measure time.
  std::function<std::unique_ptr<Callback>(SecondsClock clock)> make;
};

inline std::string CallbackCaseName(
    const ::testing::TestParamInfo<CallbackCase>& tested) {
  return tested.param.name;
}

class CallbackConformanceTest : public ::testing::TestWithParam<CallbackCase> {
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_TESTING_CALLBACK_CONFORMANCE_H_

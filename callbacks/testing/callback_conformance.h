// What every Callback must do, as a test suite: run twice, survive runs that
// end at once, are stopped or fail, survive evaluations outside of runs, bring
// back the state they have, if any, and leave the global random generator
// alone. A callback's test instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(
//       Mine, CallbackConformanceTest,
//       ::testing::Values(CallbackCase{"Mine", [](SecondsClock) {
//         return std::make_unique<Mine>();
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
  // A new callback, which may measure time by `clock`.
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

// What every Backend must do, as a test suite. A backend's test instantiates
// it:
//
//   INSTANTIATE_TEST_SUITE_P(SingleProcess, BackendConformanceTest,
//       ::testing::Values(BackendCase{"sp", [] { return MakeBackend("sp"); }}),
//       BackendCaseName);
#ifndef TRAINYARD_BACKENDS_TESTING_BACKEND_CONFORMANCE_H_
#define TRAINYARD_BACKENDS_TESTING_BACKEND_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "backends/backend.h"

namespace trainyard {

struct BackendCase {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
};

inline std::string BackendCaseName(
    const ::testing::TestParamInfo<BackendCase>& info) {
  return info.param.name;
}

class BackendConformanceTest : public ::testing::TestWithParam<BackendCase> {
 protected:
  const std::unique_ptr<Backend> backend_ = GetParam().make();
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_BACKEND_CONFORMANCE_H_

// BackendConformanceTest is the contract of Backend as a test suite. The test
// of a backend instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(
//       All, BackendConformanceTest,
//       ::testing::Values(BackendCase{"sp", [] { return MakeBackend("sp"); }}),
//       BackendCaseName);
//
// The program must have a TEST_P linked in: GoogleTest fails a suite that is
// instantiated without one.
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
  // Called several times in a test: each backend is independent of the others.
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

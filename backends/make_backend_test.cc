#include "backends/make_backend.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend_conformance.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(All, BackendConformanceTest,
                         ::testing::Values(BackendCase{
                             "sp", [] { return MakeBackend("sp"); }}),
                         BackendCaseName);

TEST(MakeBackendTest, KeepsItsName) {
  EXPECT_EQ(MakeBackend("sp")->name(), "sp");
}

TEST(MakeBackendTest, UnknownNameListsTheKnownOnes) {
  try {
    MakeBackend("tpu");
    FAIL() << "there was a backend \"tpu\"";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("there is no backend \"tpu\"; there are: sp"));
  }
}

}  // namespace
}  // namespace trainyard

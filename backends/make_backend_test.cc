#include "backends/make_backend.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend_conformance.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

BackendCase Case(const std::string& id, const std::string& name) {
  return {id, [name] { return MakeBackend(name); }};
}

INSTANTIATE_TEST_SUITE_P(All, BackendConformanceTest,
                         ::testing::Values(Case("sp", "sp"),
                                           Case("sp_amp", "sp-amp")),
                         BackendCaseName);

TEST(MakeBackendTest, KeepsItsName) {
  EXPECT_EQ(MakeBackend("sp")->name(), "sp");
  EXPECT_EQ(MakeBackend("sp-amp")->name(), "sp-amp");
}

TEST(MakeBackendTest, UnknownNameListsTheKnownOnes) {
  try {
    MakeBackend("tpu");
    FAIL() << "there was a backend \"tpu\"";
  } catch (const c10::ValueError& e) {
    EXPECT_THAT(
        e.what(),
        HasSubstr("there is no backend \"tpu\"; there are: sp, sp-amp"));
  }
}

}  // namespace
}  // namespace trainyard

#include "trainer/loop/limit_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

int64_t Limited(const char* variable, int64_t limit) {
  setenv("TRAINYARD_LIMIT_BATCHES", variable, 1);
  return LimitBatches(limit);
}

TEST(LimitBatchesTest, TheSmallerLimitHoldsAndZeroIsNone) {
  unsetenv("TRAINYARD_LIMIT_BATCHES");
  EXPECT_EQ(LimitBatches(0), 0);
  EXPECT_EQ(LimitBatches(7), 7);
  EXPECT_EQ(Limited("", 7), 7);
  EXPECT_EQ(Limited("5", 0), 5);
  EXPECT_EQ(Limited("5", 7), 5);
  EXPECT_EQ(Limited("5", 3), 3);
}

TEST(LimitBatchesTest, AnythingElseIsRefusedAndQuoted) {
  for (const char* variable :
       {"0", "-1", "five", "5x", " 5", "1e3", "99999999999999999999"}) {
    try {
      Limited(variable, 0);
      ADD_FAILURE() << "accepted " << variable;
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), HasSubstr("\"" + std::string(variable) + "\""));
    }
  }
}

}  // namespace
}  // namespace trainyard

#include "trainer/loop/limit_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::optional<int64_t> Limited(const char* variable,
                               std::optional<int64_t> limit) {
  setenv("TRAINYARD_LIMIT_BATCHES", variable, 1);
  return LimitBatches(limit);
}

TEST(LimitBatchesTest, TheSmallerLimitHoldsAndUnsetIsNone) {
  unsetenv("TRAINYARD_LIMIT_BATCHES");
  EXPECT_EQ(LimitBatches(std::nullopt), std::nullopt);
  EXPECT_EQ(LimitBatches(7), 7);
  EXPECT_EQ(Limited("", 7), 7);
  EXPECT_EQ(Limited("5", std::nullopt), 5);
  EXPECT_EQ(Limited("5", 7), 5);
  EXPECT_EQ(Limited("5", 3), 3);
}

TEST(LimitBatchesTest, AnythingElseIsRefusedAndQuoted) {
  for (const char* variable :
       {"0", "-1", "five", "5x", " 5", "1e3", "99999999999999999999"}) {
    try {
      Limited(variable, std::nullopt);
      ADD_FAILURE() << "accepted " << variable;
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), HasSubstr("\"" + std::string(variable) + "\""));
    }
  }
}

}  // namespace
}  // namespace trainyard

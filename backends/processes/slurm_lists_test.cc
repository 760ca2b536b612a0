#include "backends/processes/slurm_lists.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace trainyard {
namespace {

TEST(SlurmListsTest, FindsTheFirstHost) {
  EXPECT_EQ(FirstSlurmHost("gpu1"), "gpu1");
  EXPECT_EQ(FirstSlurmHost("gpu1,gpu2"), "gpu1");
  EXPECT_EQ(FirstSlurmHost("n[07-09,12],gpu1"), "n07");
  EXPECT_EQ(FirstSlurmHost("n[3,5]"), "n3");
  EXPECT_EQ(FirstSlurmHost("gpu1,n[3-5]"), "gpu1");
  EXPECT_THROW(FirstSlurmHost("n[3"), std::invalid_argument);
}

TEST(SlurmListsTest, CountsTheTasksOfANode) {
  EXPECT_EQ(SlurmTasksOnNode("4", 0), 4);
  EXPECT_EQ(SlurmTasksOnNode("2(x2)", 1), 2);
  EXPECT_EQ(SlurmTasksOnNode("2(x3),1", 2), 2);
  EXPECT_EQ(SlurmTasksOnNode("2(x3),1", 3), 1);
  EXPECT_EQ(SlurmTasksOnNode("3,1,2(x10)", 11), 2);
}

TEST(SlurmListsTest, RefusesOtherTextAndNodesThatAreNotThere) {
  for (const char* text : {"", "x", "2(x", "2(x2),", "-1"}) {
    EXPECT_THROW(SlurmTasksOnNode(text, 5), std::invalid_argument) << text;
  }
  EXPECT_THROW(SlurmTasksOnNode("2(x2)", 2), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

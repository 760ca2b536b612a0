#include "tools/launch/launch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LaunchOptionsTest, HeaderExample) {
  const LaunchOptions options =
      ParseLaunchOptions({"--nproc=2", "--", "fashion_mnist", "--backend=ddp"});
  EXPECT_EQ(options.nproc, 2);
  EXPECT_EQ(options.world_size(), 2);
  EXPECT_THAT(options.command, ElementsAre("fashion_mnist", "--backend=ddp"));
}

TEST(LaunchOptionsTest, TheProgramEndsOurSettingsAsTheTwoDashesDo) {
  const LaunchOptions options =
      ParseLaunchOptions({"--nproc=3", "a.out", "--nproc=9", "--", "x"});
  EXPECT_EQ(options.nproc, 3);
  EXPECT_THAT(options.command, ElementsAre("a.out", "--nproc=9", "--", "x"));
}

TEST(LaunchOptionsTest, RanksOfALaterHostFollowThoseOfTheFirst) {
  const LaunchOptions options = ParseLaunchOptions(
      {"--nproc=4", "--nnodes=3", "--node_rank=2", "--master_addr=10.0.0.1",
       "--master_port=29500", "--max_restarts=5", "--grace=0.5", "p"});
  EXPECT_EQ(options.world_size(), 12);
  EXPECT_EQ(options.first_rank(), 8);
  EXPECT_EQ(options.master_port, 29500);
  EXPECT_EQ(options.max_restarts, 5);
  EXPECT_EQ(options.grace.count(), 0.5);
}

struct Mistake {
  std::string name;
  std::vector<std::string> arguments;
  std::string message;
};

class LaunchOptionsMistakeTest : public ::testing::TestWithParam<Mistake> {};

TEST_P(LaunchOptionsMistakeTest, IsNamed) {
  try {
    ParseLaunchOptions(GetParam().arguments);
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LaunchOptionsMistakeTest,
    ::testing::Values(
        Mistake{"NoProgram", {"--nproc=2", "--"}, "no program is given"},
        Mistake{"NoRanks", {"--nproc=0", "p"}, "--nproc is '0', want 1"},
        Mistake{"NotANumber", {"--nproc=two", "p"}, "--nproc is 'two'"},
        Mistake{"Unknown", {"--nprocs=2", "p"}, "--nprocs is not a setting"},
        Mistake{"Port", {"--master_port=70000", "p"}, "'70000', want 0 to"},
        Mistake{"Host", {"--node_rank=1", "p"}, "--node_rank is '1'"},
        Mistake{"NoAddress",
                {"--nnodes=2", "--node_rank=1", "p"},
                "needs --master_addr too"},
        Mistake{"NoPort",
                {"--nnodes=2", "--node_rank=1", "--master_addr=a",
                 "--master_port=0", "p"},
                "--master_port is '0'"},
        Mistake{"Grace", {"--grace=-1", "p"}, "--grace is '-1'"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace trainyard

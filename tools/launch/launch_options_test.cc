#include "tools/launch/launch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LaunchOptionsTest, HeaderExample) {
  const LaunchOptions options = ParseLaunchOptions(
      {"--nproc=2", "--", "fashion_mnist_ranks", "--backend=ddp"});
  EXPECT_EQ(options.nproc, 2);
  EXPECT_EQ(options.max_nodes, 1);
  EXPECT_THAT(options.command,
              ElementsAre("fashion_mnist_ranks", "--backend=ddp"));
}

TEST(LaunchOptionsTest, SettingsEndAtTheProgram) {
  const LaunchOptions options =
      ParseLaunchOptions({"--nproc=3", "a.out", "--nproc=9", "--", "x"});
  EXPECT_EQ(options.nproc, 3);
  EXPECT_THAT(options.command, ElementsAre("a.out", "--nproc=9", "--", "x"));
}

TEST(LaunchOptionsTest, NumbersRanksHostByHost) {
  const LaunchOptions options = ParseLaunchOptions(
      {"--nproc=4", "--nnodes=3", "--node_rank=2", "--master_addr=10.0.0.1",
       "--master_port=29500", "--max_restarts=5", "--grace=0.5", "p"});
  EXPECT_EQ(options.min_nodes, 3);
  EXPECT_EQ(options.max_nodes, 3);
  EXPECT_EQ(options.node_rank, 2);
  EXPECT_EQ(options.master_port, 29500);
  EXPECT_EQ(options.max_restarts, 5);
  EXPECT_EQ(options.grace.count(), 0.5);
}

LaunchOptions Under(const std::map<std::string, std::string>& variables,
                    const std::vector<std::string>& arguments) {
  return ParseLaunchOptions(
      arguments, [&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      });
}

TEST(LaunchOptionsTest, ElasticHosts) {
  const LaunchOptions options =
      Under({}, {"--nnodes=2:4", "--master_addr=a", "--master_port=1", "p"});
  EXPECT_EQ(options.min_nodes, 2);
  EXPECT_EQ(options.max_nodes, 4);
  EXPECT_FALSE(options.node_rank);
}

TEST(LaunchOptionsTest, HostsOfKubeflow) {
  const std::map<std::string, std::string> trainer = {
      {"PET_NNODES", "2"},
      {"PET_NPROC_PER_NODE", "3"},
      {"PET_NODE_RANK", "1"},
      {"PET_MASTER_ADDR", "run-node-0-0.run"},
      {"PET_MASTER_PORT", "29500"}};
  const LaunchOptions options = Under(trainer, {"p"});
  EXPECT_EQ(options.max_nodes, 2);
  EXPECT_EQ(options.node_rank, 1);
  EXPECT_EQ(options.nproc, 3);
  EXPECT_EQ(options.master_addr, "run-node-0-0.run");
  EXPECT_EQ(options.master_port, 29500);
  EXPECT_EQ(Under(trainer, {"--nproc=1", "p"}).nproc, 1);
}

TEST(LaunchOptionsTest, HostsOfSlurm) {
  std::map<std::string, std::string> srun = {
      {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_NODEID", "1"},
      {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_NODELIST", "n[3-4]"},
      {"SLURM_JOB_ID", "99"},        {"SLURM_STEP_ID", "0"}};
  const LaunchOptions options =
      Under(srun, {"--nnodes=auto", "--nproc=4", "p"});
  EXPECT_EQ(options.max_nodes, 2);
  EXPECT_EQ(options.node_rank, 1);
  EXPECT_EQ(options.master_addr, "n3");
  EXPECT_GE(options.master_port, 20000);
  // Only if asked to: a launcher in a job of several nodes may be for one.
  EXPECT_EQ(Under(srun, {"p"}).max_nodes, 1);
  srun["SLURM_STEP_NUM_TASKS"] = "4";
  EXPECT_THROW(Under(srun, {"--nnodes=auto", "p"}), std::invalid_argument);
  EXPECT_THROW(Under({}, {"--nnodes=auto", "p"}), std::invalid_argument);
}

TEST(LaunchOptionsTest, HostsOfAnIndexedJob) {
  const LaunchOptions options = Under({{"JOB_COMPLETION_INDEX", "2"},
                                       {"WORLD_SIZE", "4"},
                                       {"MASTER_ADDR", "train-0.train"},
                                       {"MASTER_PORT", "29500"}},
                                      {"--nnodes=auto", "p"});
  EXPECT_EQ(options.max_nodes, 4);
  EXPECT_EQ(options.node_rank, 2);
  EXPECT_EQ(options.master_addr, "train-0.train");
}

std::string FileOf(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/launch.conf";
  std::ofstream(path) << text;
  return path;
}

TEST(LaunchOptionsTest, FlagsWinOverTheConfigFile) {
  const std::string file = FileOf("# two ranks\nnproc=2\ngrace=1.5\n");
  const LaunchOptions options =
      ParseLaunchOptions({"--nproc=4", "--config=" + file, "p"});
  EXPECT_EQ(options.nproc, 4);
  EXPECT_EQ(options.grace.count(), 1.5);
}

TEST(LaunchOptionsTest, AWrittenConfigGivesTheSameOptions) {
  const std::vector<std::string> flags = {
      "--nproc=3",           "--nnodes=2",        "--master_addr=10.0.0.1",
      "--master_port=29500", "--max_restarts=5",  "--backoff=0.25",
      "--grace=7.5",         "--failure_grace=4", "--stopped_timeout=0",
      "--log_dir=/tmp/l",    "--join_wait=3",     "--join_timeout=40",
      "--silence=9",         "--interface=ib0"};
  const auto with = [&](std::vector<std::string> more) {
    more.push_back("--node_rank=1");
    return more;
  };
  std::vector<std::string> given = with(flags);
  given.push_back("--write_config=run.conf");
  const LaunchOptions options = ParseLaunchOptions(given);
  EXPECT_EQ(options.write_config, "run.conf");
  const std::string text = LaunchConfig(options);
  EXPECT_THAT(text, Not(HasSubstr("node_rank")));
  const LaunchOptions read =
      ParseLaunchOptions(with({"--config=" + FileOf(text), "--help"}));
  EXPECT_EQ(LaunchConfig(read), text);
  for (const std::string& flag : flags) {
    EXPECT_THAT(text, HasSubstr(flag.substr(2) + "\n"));
  }
}

struct Mistake {
  std::string name;
  std::vector<std::string> arguments;
  std::string message;
};

class LaunchOptionsMistakeTest : public ::testing::TestWithParam<Mistake> {};

TEST_P(LaunchOptionsMistakeTest, ErrorNamesTheSetting) {
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
        Mistake{"Near", {"--nprocs=2", "p"}, "did you mean --nproc?"},
        Mistake{"NoFile", {"--config=/no/file", "p"}, "cannot read /no/file"},
        Mistake{"WriteAndStart",
                {"--write_config=f", "p"},
                "starts nothing: leave out 'p'"},
        Mistake{"Grace", {"--grace=-1", "p"}, "--grace is '-1'"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace trainyard

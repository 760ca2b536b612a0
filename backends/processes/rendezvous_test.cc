#include "backends/processes/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Rendezvous Read(const Variables& variables) {
  return RendezvousFromEnvironment(
      [&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      });
}

std::string Refusal(const Variables& variables) {
  return ErrorOf([&] { Read(variables); });
}

const Variables kTorchrun = {{"RANK", "3"},        {"WORLD_SIZE", "4"},
                             {"LOCAL_RANK", "1"},  {"LOCAL_WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "h"}, {"MASTER_PORT", "29500"}};

Variables With(Variables variables, const std::string& name,
               const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(RendezvousTest, ReadsTorchrun) {
  const Rendezvous all = Read(kTorchrun);
  EXPECT_EQ(all.rank, 3);
  EXPECT_EQ(all.world_size, 4);
  EXPECT_EQ(all.local_rank, 1);
  EXPECT_EQ(all.local_world_size, 2);
  EXPECT_EQ(all.address, "h");
  EXPECT_EQ(all.port, 29500);
  EXPECT_FALSE(all.store_is_elsewhere);
  EXPECT_FALSE(all.store_fd);
  EXPECT_FALSE(all.one_machine());
}

TEST(RendezvousTest, KnowsTorchrunsOwnStoreAndItsAttempts) {
  Variables variables = kTorchrun;
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  variables["TORCHELASTIC_RESTART_COUNT"] = "2";
  EXPECT_TRUE(Read(variables).store_is_elsewhere);
  EXPECT_EQ(Read(variables).attempt, 2);
}

TEST(RendezvousTest, OnlyRankZeroTakesTheInheritedSocket) {
  const Variables variables = With(kTorchrun, "TRAINYARD_STORE_FD", "7");
  EXPECT_FALSE(Read(variables).store_fd);
  EXPECT_EQ(Read(With(variables, "RANK", "0")).store_fd, 7);
}

TEST(RendezvousTest, ReadsOpenMpi) {
  const Variables one_machine = {
      {"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
      {"PMIX_NAMESPACE", "12345"},         {"SLURM_PROCID", "0"}};
  const Rendezvous all = Read(one_machine);
  EXPECT_EQ(all.rank, 1);
  EXPECT_EQ(all.address, "127.0.0.1");
  EXPECT_TRUE(all.one_machine());
  EXPECT_EQ(all.port, Read(one_machine).port);
  EXPECT_NE(all.port, Read(With(one_machine, "PMIX_NAMESPACE", "12346")).port);
  EXPECT_EQ(Read(With(one_machine, "MASTER_PORT", "1234")).port, 1234);
  const Variables two =
      With(With(one_machine, "OMPI_COMM_WORLD_LOCAL_SIZE", "1"),
           "OMPI_COMM_WORLD_LOCAL_RANK", "0");
  EXPECT_THAT(Refusal(two), HasSubstr("MASTER_ADDR is not set"));
  EXPECT_EQ(Read(With(two, "MASTER_ADDR", "head")).address, "head");
}

// The recorded variables of every launcher: launcher_table_test.

TEST(RendezvousTest, AMissingLocalSizeIsNotTakenForTheWorld) {
  const Rendezvous all = Read({{"RANK", "1"},
                               {"WORLD_SIZE", "2"},
                               {"MASTER_ADDR", "job-master-0"},
                               {"MASTER_PORT", "23456"}});
  EXPECT_EQ(all.local_rank, 0);
  EXPECT_EQ(all.local_world_size, 1);
  EXPECT_FALSE(all.one_machine());
}

TEST(RendezvousTest, StepsAndRestartsOfASlurmJobAreSeparate) {
  const Variables slurm = {{"SLURM_PROCID", "1"},
                           {"SLURM_STEP_NUM_TASKS", "2"},
                           {"SLURM_LOCALID", "0"},
                           {"SLURM_NODEID", "1"},
                           {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                           {"SLURM_STEP_NODELIST", "node[07-08]"},
                           {"SLURM_JOB_ID", "99"},
                           {"SLURM_STEP_ID", "0"}};
  EXPECT_EQ(Read(slurm).address, "node07");
  EXPECT_EQ(Read(slurm).port, Read(slurm).port);
  EXPECT_NE(Read(slurm).port, Read(With(slurm, "SLURM_STEP_ID", "1")).port);
  EXPECT_EQ(Read(slurm).attempt, 0);
  EXPECT_EQ(Read(With(slurm, "SLURM_RESTART_COUNT", "2")).attempt, 2);
  const Variables elsewhere = With(slurm, "MASTER_ADDR", "node08");
  EXPECT_EQ(Read(elsewhere).address, "node08");
  EXPECT_EQ(Read(With(elsewhere, "MASTER_PORT", "1234")).port, 1234);
}

TEST(RendezvousTest, TheLaunchersGenerationGoesFirst) {
  Variables variables = With(kTorchrun, "TRAINYARD_GENERATION", "5");
  variables["TORCHELASTIC_RESTART_COUNT"] = "2";
  EXPECT_EQ(Read(variables).attempt, 5);
}

TEST(RendezvousTest, ReadsTheInterface) {
  EXPECT_FALSE(Read(kTorchrun).interface);
  const Variables gloo = With(kTorchrun, "GLOO_SOCKET_IFNAME", "eth1");
  EXPECT_EQ(Read(gloo).interface, "eth1");
  EXPECT_EQ(Read(With(gloo, "TRAINYARD_INTERFACE", "ib0")).interface, "ib0");
}

TEST(RendezvousTest, CountsTheProcessesOfALauncher) {
  const auto count = [](const Variables& variables) {
    return LaunchedProcesses(
        [&](const char* name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          if (found == variables.end()) return std::nullopt;
          return found->second;
        });
  };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count(kTorchrun), 4);
  // A script of Slurm's that does not call srun is one process.
  EXPECT_EQ(count({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), 1);
  // Pods of an Indexed Job may have nothing to do with each other.
  EXPECT_EQ(count({{"JOB_COMPLETION_INDEX", "3"}}), 1);
}

TEST(RendezvousTest, RefusesByVariableAndValue) {
  EXPECT_THAT(Refusal({}), HasSubstr("not started as one of several"));
  EXPECT_THAT(Refusal({{"RANK", "0"}}), HasSubstr("WORLD_SIZE is not set"));
  EXPECT_THAT(Refusal(With(kTorchrun, "RANK", "4")),
              AllOf(HasSubstr("RANK is \"4\""), HasSubstr("from 0 to 3")));
  EXPECT_THAT(Refusal(With(kTorchrun, "RANK", "1x")),
              HasSubstr("RANK is \"1x\""));
  EXPECT_THAT(Refusal(With(kTorchrun, "MASTER_PORT", "70000")),
              HasSubstr("MASTER_PORT is \"70000\""));
  EXPECT_THAT(Refusal(With(kTorchrun, "MASTER_ADDR", "")),
              HasSubstr("MASTER_ADDR is not set"));
}

}  // namespace
}  // namespace trainyard

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

TEST(RendezvousTest, ReadsSlurm) {
  const Variables slurm = {
      {"SLURM_PROCID", "5"},  {"SLURM_NTASKS", "8"},
      {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS_PER_NODE", "4"},
      {"SLURM_NNODES", "2"},  {"SLURM_JOB_NODELIST", "node[07-08]"},
      {"SLURM_JOB_ID", "99"}};
  const Rendezvous all = Read(slurm);
  EXPECT_EQ(all.rank, 5);
  EXPECT_EQ(all.world_size, 8);
  EXPECT_EQ(all.local_rank, 1);
  EXPECT_EQ(all.local_world_size, 4);
  EXPECT_EQ(all.address, "node07");
  EXPECT_FALSE(all.one_machine());
}

TEST(RendezvousTest, ASlurmJobOfOneNodeStaysOnLoopback) {
  const Rendezvous all = Read({{"SLURM_PROCID", "1"},
                               {"SLURM_NTASKS", "2"},
                               {"SLURM_LOCALID", "1"},
                               {"SLURM_NNODES", "1"},
                               {"SLURM_JOB_NODELIST", "node07"},
                               {"SLURM_JOB_ID", "99"}});
  EXPECT_EQ(all.address, "127.0.0.1");
  EXPECT_TRUE(all.one_machine());
}

TEST(RendezvousTest, FindsTheFirstHostOfASlurmList) {
  EXPECT_EQ(FirstSlurmHost("gpu1"), "gpu1");
  EXPECT_EQ(FirstSlurmHost("gpu1,gpu2"), "gpu1");
  EXPECT_EQ(FirstSlurmHost("n[07-09,12],gpu1"), "n07");
  EXPECT_EQ(FirstSlurmHost("n[3,5]"), "n3");
  EXPECT_EQ(FirstSlurmHost("gpu1,n[3-5]"), "gpu1");
  EXPECT_THROW(FirstSlurmHost("n[3"), std::invalid_argument);
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

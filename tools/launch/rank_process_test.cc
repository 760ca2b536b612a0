#include "tools/launch/rank_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "tools/launch/launch_options.h"
#include "tools/launch/rank_environment.h"

namespace trainyard {
namespace {

std::string ReadAll(int fd) {
  std::string text;
  char buffer[256];
  pollfd ready = {fd, POLLIN, 0};
  while (poll(&ready, 1, -1) > 0) {
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size <= 0) break;
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

TEST(RankProcessTest, HeaderExample) {
  int status = -1;
  const RankProcess rank({.program = "/bin/echo", .arguments = {"echo", "hi"}});
  EXPECT_EQ(ReadAll(rank.output_fd()), "hi\n");
  waitpid(rank.pid(), &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(RankProcessTest, InheritsTheGivenDescriptorOnly) {
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const RankProcess rank(
      {.program = "/bin/sh",
       .arguments = {"sh", "-c",
                     "echo x >&" + std::to_string(pipes[1]) + "; (echo y <&" +
                         std::to_string(pipes[0]) +
                         ") 2>/dev/null || echo none"},
       .inherited_fd = pipes[1]});
  EXPECT_EQ(ReadAll(rank.output_fd()), "none\n");
  close(pipes[1]);
  EXPECT_EQ(ReadAll(pipes[0]), "x\n");
  close(pipes[0]);
  waitpid(rank.pid(), nullptr, 0);
}

TEST(RankProcessTest, AMissingProgramIsAnError) {
  EXPECT_THROW(RankProcess({.program = "/no/program", .arguments = {"p"}}),
               std::system_error);
}

TEST(RankEnvironmentTest, HeaderExample) {
  EXPECT_EQ(RankEnvironment({.nproc = 2}, {.world_size = 2}, 1, std::nullopt)
                .at("RANK"),
            "1");
  EXPECT_FALSE(
      RankEnvironment({}, {}, 0, std::nullopt).contains("TRAINYARD_STORE_FD"));
  EXPECT_EQ(RankEnvironment({}, {}, 0, 7).at("TRAINYARD_STORE_FD"), "7");
}

TEST(RankEnvironmentTest, RanksOfALaterHost) {
  const auto all = RankEnvironment({.nproc = 2, .interface = "ib0"},
                                   {.first_rank = 3,
                                    .world_size = 5,
                                    .address = "n1",
                                    .port = 4711,
                                    .restarts = 2,
                                    .generation = 7},
                                   1, std::nullopt);
  EXPECT_EQ(all.at("RANK"), "4");
  EXPECT_EQ(all.at("WORLD_SIZE"), "5");
  EXPECT_EQ(all.at("LOCAL_RANK"), "1");
  EXPECT_EQ(all.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(all.at("MASTER_ADDR"), "n1");
  EXPECT_EQ(all.at("MASTER_PORT"), "4711");
  EXPECT_EQ(all.at("TRAINYARD_RESTART_COUNT"), "2");
  EXPECT_EQ(all.at("TRAINYARD_GENERATION"), "7");
  EXPECT_EQ(all.at("TRAINYARD_INTERFACE"), "ib0");
}

}  // namespace
}  // namespace trainyard

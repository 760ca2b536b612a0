#include "tools/launch/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

namespace trainyard {
namespace {

using testing::Eq;

struct Pipe {
  Pipe() {
    if (pipe(ends) != 0) std::abort();
  }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2];
};

// Starts a child that calls `body` and ends with its result.
pid_t Fork(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

TEST(RunGuardedTest, ReturnsWhatTheWorkReturned) {
  EXPECT_THAT(RunGuarded([](int) { return 7; }), Eq(7));
}

TEST(RunGuardedTest, ReportsTheSignalThatEndedTheWork) {
  EXPECT_THAT(RunGuarded([](int) { return raise(SIGKILL); }),
              Eq(128 + SIGKILL));
}

// The coordinator tells the launchers of other hosts of the end, one after the
// other; the one of this host may be the first to hear of it.
TEST(RunGuardedTest, LetsTheCompanionFinishAfterTheWork) {
  Pipe work_ends;
  Pipe finished;
  const pid_t companion = Fork([&] {
    char byte = 0;
    if (read(work_ends.ends[0], &byte, 1) != 1) return 1;
    // It has something left to do, which takes a moment.
    poll(nullptr, 0, 300);
    return write(finished.ends[1], "x", 1) == 1 ? 0 : 1;
  });
  EXPECT_THAT(
      RunGuarded(
          [&](int) { return write(work_ends.ends[1], "x", 1) == 1 ? 0 : 1; },
          companion),
      Eq(0));
  pollfd result = {finished.ends[0], POLLIN, 0};
  EXPECT_THAT(poll(&result, 1, 0), Eq(1)) << "the companion was killed";
}

TEST(RunGuardedTest, KillsTheWorkWhenItsCompanionFails) {
  const pid_t companion = Fork([] { return 1; });
  EXPECT_THAT(RunGuarded(
                  [](int alive) {
                    pollfd guard = {alive, POLLIN, 0};
                    poll(&guard, 1, -1);
                    return 0;
                  },
                  companion),
              Eq(128 + SIGKILL));
}

}  // namespace
}  // namespace trainyard

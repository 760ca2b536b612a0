#include "trainer/loop/cancellation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace trainyard {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(CancellationTest, RemembersTheSignal) {
  for (const auto& [signal, name] :
       std::map<int, std::string>{{SIGINT, "SIGINT"},
                                  {SIGTERM, "SIGTERM"},
                                  {SIGUSR1, "SIGUSR1"},
                                  {SIGUSR2, "SIGUSR2"}}) {
    const Cancellation cancellation;
    EXPECT_FALSE(cancellation.requested());
    EXPECT_EQ(cancellation.reason(), "");
    raise(signal);
    EXPECT_TRUE(cancellation.requested());
    EXPECT_EQ(cancellation.reason(), name);
  }
}

// The kernel gives a signal of the process to any thread that does not block
// it.
TEST(CancellationTest, AnotherThreadReceivesTheSignals) {
  Cancellation cancellation({.save_signals = {SIGUSR1}});
  std::thread other([] {
    pthread_kill(pthread_self(), SIGUSR1);
    pthread_kill(pthread_self(), SIGTERM);
  });
  while (!cancellation.requested()) std::this_thread::yield();
  EXPECT_EQ(cancellation.reason(), "SIGTERM");
  EXPECT_TRUE(cancellation.TakeSaveRequest());
  other.join();
}

TEST(CancellationTest, OnlyTheGivenSignals) {
  const Cancellation cancellation({.signals = {SIGUSR2}});
  raise(SIGUSR2);
  EXPECT_EQ(cancellation.reason(), "SIGUSR2");
  EXPECT_EXIT(raise(SIGUSR1), ::testing::KilledBySignal(SIGUSR1), "");
}

TEST(CancellationTest, SaveSignalsEndNothing) {
  Cancellation cancellation({.save_signals = {SIGUSR1}});
  EXPECT_FALSE(cancellation.save_requested());
  raise(SIGUSR1);
  raise(SIGUSR1);
  EXPECT_FALSE(cancellation.requested());
  EXPECT_TRUE(cancellation.save_requested());
  EXPECT_TRUE(cancellation.TakeSaveRequest());
  EXPECT_FALSE(cancellation.save_requested());
  EXPECT_FALSE(cancellation.TakeSaveRequest());
  raise(SIGUSR2);
  EXPECT_EQ(cancellation.reason(), "SIGUSR2");
}

TEST(CancellationTest, RefusesSignalsThatNoProgramCanHandle) {
  for (const int signal : {SIGKILL, SIGSTOP, 0, -1, NSIG}) {
    EXPECT_THROW(Cancellation({.signals = {signal}}), std::invalid_argument);
    EXPECT_THROW(Cancellation({.save_signals = {signal}}),
                 std::invalid_argument);
  }
  // Another one is active afterwards.
  const Cancellation cancellation;
  raise(SIGTERM);
  EXPECT_TRUE(cancellation.requested());
}

TEST(CancellationTest, TheSecondInterruptEndsTheProcess) {
  const Cancellation cancellation;
  raise(SIGINT);
  EXPECT_EXIT(raise(SIGINT), ::testing::KilledBySignal(SIGINT), "");
}

// Slurm sends SIGCONT and SIGTERM after the signal of --signal, some
// schedulers SIGTERM twice. SIGKILL comes anyway.
TEST(CancellationTest, FurtherSignalsOfASchedulerChangeNothing) {
  const Cancellation cancellation;
  raise(SIGUSR1);
  raise(SIGTERM);
  raise(SIGTERM);
  EXPECT_EQ(cancellation.reason(), "SIGUSR1");
}

TEST(CancellationTest, EndsBeforeTheJobDoes) {
  const auto now = system_clock::now();
  const auto ends = [&](int left, int margin) {
    return Cancellation(
               {.job_end = now + seconds(left), .margin = seconds(margin)})
        .requested();
  };
  EXPECT_FALSE(ends(1000, 60));
  EXPECT_TRUE(ends(-1, 60));
  // A job shorter than the margin still trains most of its time.
  EXPECT_FALSE(ends(50, 60));
  const Cancellation over({.job_end = system_clock::from_time_t(1)});
  EXPECT_EQ(over.reason(), "the job ends at 1970-01-01 00:00:01 UTC");
}

CancellationOptions Read(const std::map<std::string, std::string>& variables) {
  return CancellationFromEnvironment(
      {}, [&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      });
}

TEST(CancellationTest, ReadsTheEnvironment) {
  EXPECT_THAT(Read({}).signals, ElementsAre(SIGINT, SIGTERM, SIGUSR1, SIGUSR2));
  EXPECT_FALSE(Read({}).job_end);
  EXPECT_THAT(Read({{"TRAINYARD_STOP_SIGNALS", "SIGUSR2,TERM"}}).signals,
              ElementsAre(SIGUSR2, SIGTERM));
  EXPECT_THAT(Read({{"TRAINYARD_STOP_SIGNALS", ""}}).signals, IsEmpty());
  EXPECT_THAT(Read({{"TRAINYARD_SAVE_SIGNALS", "USR1"}}).save_signals,
              ElementsAre(SIGUSR1));
  const CancellationOptions slurm = Read({{"SLURM_JOB_END_TIME", "1700000000"},
                                          {"TRAINYARD_JOB_END_MARGIN", "7.5"}});
  EXPECT_EQ(slurm.job_end, system_clock::from_time_t(1700000000));
  EXPECT_EQ(slurm.margin.count(), 7.5);
  EXPECT_EQ(Read({{"SLURM_JOB_END_TIME", "5"}, {"TRAINYARD_JOB_END_TIME", "9"}})
                .job_end,
            system_clock::from_time_t(9));
}

TEST(CancellationTest, RefusesByVariableAndValue) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"TRAINYARD_STOP_SIGNALS", "SIGNONE"},
                                          {"TRAINYARD_SAVE_SIGNALS", "USR3"},
                                          {"SLURM_JOB_END_TIME", "soon"},
                                          {"TRAINYARD_JOB_END_MARGIN", "-1"}}) {
    try {
      Read({{name, value}});
      ADD_FAILURE() << name;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), StartsWith(name));
    }
  }
}

TEST(CancellationTest, OldHandlersComeBack) {
  static int calls = 0;
  std::signal(SIGINT, [](int) { ++calls; });
  {
    const Cancellation cancellation;
    raise(SIGINT);
  }
  EXPECT_EQ(calls, 0);
  raise(SIGINT);
  EXPECT_EQ(calls, 1);
  {
    // It is in both lists.
    const Cancellation cancellation({.save_signals = {SIGINT}});
    raise(SIGINT);
  }
  EXPECT_EQ(calls, 1);
  raise(SIGINT);
  EXPECT_EQ(calls, 2);
  std::signal(SIGINT, SIG_DFL);
}

TEST(CancellationTest, SignalBeforeItIsRememberedAndOneAfterItEndsNothing) {
  const auto program = [] {
    RememberSignals({.save_signals = {SIGUSR2}});
    raise(SIGUSR1);
    raise(SIGUSR2);
    bool right = true;
    {
      const Cancellation cancellation({.save_signals = {SIGUSR2}});
      right =
          cancellation.reason() == "SIGUSR1" && cancellation.save_requested();
    }
    // The next one does not know of it.
    right = right && !Cancellation().requested();
    raise(SIGUSR1);
    raise(SIGUSR2);
    std::_Exit(right ? 0 : 1);
  };
  EXPECT_EXIT(program(), ::testing::ExitedWithCode(0), "");
}

TEST(CancellationTest, InterruptStillEndsAProgramThatHasNoLoopYet) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto program = [signal] {
      RememberSignals({});
      raise(signal);
    };
    EXPECT_EXIT(program(), ::testing::KilledBySignal(signal), "");
  }
}

TEST(CancellationTest, ASecondOneIsInactive) {
  const Cancellation outer;
  {
    const Cancellation inner;
    raise(SIGINT);
    EXPECT_FALSE(inner.requested());
  }
  EXPECT_TRUE(outer.requested());
}

}  // namespace
}  // namespace trainyard

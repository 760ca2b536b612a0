#include "trainer/loop/cancellation.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(CancellationTest, RemembersTheSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Cancellation cancellation;
    EXPECT_FALSE(cancellation.requested());
    EXPECT_EQ(cancellation.signal_name(), "");
    raise(signal);
    EXPECT_TRUE(cancellation.requested());
    EXPECT_EQ(cancellation.signal_name(),
              signal == SIGINT ? "SIGINT" : "SIGTERM");
  }
}

TEST(CancellationTest, TheSecondSignalEndsTheProcess) {
  const Cancellation cancellation;
  raise(SIGINT);
  EXPECT_EXIT(raise(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
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
  std::signal(SIGINT, SIG_DFL);
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

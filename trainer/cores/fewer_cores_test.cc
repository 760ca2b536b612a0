#include "trainer/cores/fewer_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <future>
#include <thread>

#include "trainer/cores/core_use.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

// Another thread, and what it may do.
class OtherThread {
 public:
  struct Schedule {
    std::vector<int> cores;
    int policy;
  };

  OtherThread() : thread_([this] { Run(); }) {}
  ~OtherThread() { thread_.join(); }
  // Once.
  Schedule Ask() {
    question_.set_value();
    return answer_.get_future().get();
  }

 private:
  void Run() {
    question_.get_future().wait();
    answer_.set_value({AllowedCores(), sched_getscheduler(0)});
  }

  std::promise<void> question_;
  std::promise<Schedule> answer_;
  std::thread thread_;
};

class FewerCoresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_.size() < 2) GTEST_SKIP() << "there is one core";
  }
  const std::vector<int> all_ = AllowedCores();
};

TEST_F(FewerCoresTest, AllThreadsMoveThereAndBack) {
  OtherThread during, afterwards;
  {
    FewerCores fewer(all_, {all_[1]});
    EXPECT_THAT(AllowedCores(), ElementsAre(all_[1]));
    const auto other = during.Ask();
    EXPECT_THAT(other.cores, ElementsAre(all_[1]));
    EXPECT_EQ(other.policy, SCHED_BATCH);
    OtherThread later;
    EXPECT_THAT(later.Ask().cores, ElementsAre(all_[1]));
    fewer.MoveTo({all_[0]});
    EXPECT_THAT(AllowedCores(), ElementsAre(all_[0]));
    EXPECT_THAT(fewer.cores(), ElementsAre(all_[0]));
  }
  EXPECT_EQ(AllowedCores(), all_);
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  const auto other = afterwards.Ask();
  EXPECT_EQ(other.cores, all_);
  EXPECT_EQ(other.policy, SCHED_OTHER);
}

TEST_F(FewerCoresTest, ABoundThreadStays) {
  std::promise<void> bound, question;
  std::promise<std::vector<int>> answer;
  std::thread thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(all_[0], &set);
    sched_setaffinity(0, sizeof(set), &set);
    bound.set_value();
    question.get_future().wait();
    answer.set_value(AllowedCores());
  });
  bound.get_future().wait();
  {
    const FewerCores fewer(all_, {all_[1]});
    question.set_value();
    EXPECT_THAT(answer.get_future().get(), ElementsAre(all_[0]));
  }
  thread.join();
}

}  // namespace
}  // namespace trainyard

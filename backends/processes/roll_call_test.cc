#include "backends/processes/roll_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

using std::chrono::milliseconds;
using ::testing::StartsWith;

// Does not answer before its test is over, like a store behind a broken cable.
class MuteStore final : public c10d::HashStore {
 public:
  explicit MuteStore(std::shared_future<void> over) : over_(std::move(over)) {}
  void set(const std::string&, const std::vector<uint8_t>&) override { Hang(); }
  std::vector<uint8_t> compareSet(const std::string&,
                                  const std::vector<uint8_t>&,
                                  const std::vector<uint8_t>&) override {
    Hang();
    return {};
  }
  int calls() const { return calls_; }

 private:
  void Hang() {
    ++calls_;
    over_.wait();
  }
  std::shared_future<void> over_;
  std::atomic<int> calls_ = 0;
};

TEST(RollCallTest, NamesSilentRanksAndTheReasonThatOneLeft) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  RollCall first(store, 0, 3, milliseconds(20));
  RollCall third(store, 2, 3, milliseconds(20));
  third.Abandon("out of memory");
  first.Abandon("a consequence of it");
  EXPECT_EQ(first.Describe(),
            "ranks 1 and 2 do not answer; rank 2: out of memory");
  EXPECT_THAT(third.Describe(), StartsWith("rank 1 does not answer"));
}

TEST(RollCallTest, DoesNotWaitWhenAllAnswer) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const auto answer = [&store](int64_t rank) {
    // Longer than the test may take.
    return RollCall(store, rank, 2, std::chrono::hours(1)).Describe();
  };
  auto other = std::async(std::launch::async, answer, 1);
  EXPECT_EQ(answer(0), "all ranks are there");
  EXPECT_EQ(other.get(), "all ranks are there");
}

TEST(RollCallTest, GivesUpAStoreThatDoesNotAnswer) {
  std::promise<void> over;
  const auto store = c10::make_intrusive<MuteStore>(over.get_future().share());
  RollCall call(store, 1, 2, milliseconds(20));
  EXPECT_EQ(call.Describe(), "the store of rank 0 does not answer");
  EXPECT_EQ(store->calls(), 1);
  // It is not asked again.
  call.Abandon("nobody hears it");
  EXPECT_EQ(call.Describe(), "the store of rank 0 does not answer");
  EXPECT_EQ(store->calls(), 1);
  over.set_value();
}

}  // namespace
}  // namespace trainyard

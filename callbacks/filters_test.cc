#include "callbacks/filters.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {
namespace {

class Counter final : public Callback {
 public:
  void OnInitEnd(const InitEnd&, Control&) override { seen += 'i'; }
  void OnGradientsReady(const GradientsReady&, Control&) override {
    seen += 'g';
  }
  std::string seen;
};

// What a callback hears of i g g i g g i g g.
std::string Heard(Filter filter) {
  Control control;
  CallbackHandler handler(control);
  Counter counter;
  handler.Add(counter, {.filter = std::move(filter)});
  const RunClock clock;
  for (int turn = 0; turn < 3; ++turn) {
    handler.Fire(InitEnd{});
    for (int i = 0; i < 2; ++i) handler.Fire(GradientsReady{.clock = clock});
  }
  return counter.seen;
}

TEST(FiltersTest, CountEachEventOnItsOwn) {
  EXPECT_EQ(Heard(nullptr), "iggiggigg");
  EXPECT_EQ(Heard(EveryNth(1)), "iggiggigg");
  EXPECT_EQ(Heard(EveryNth(2)), "gigg");
  EXPECT_EQ(Heard(EveryNth(3)), "gig");
  EXPECT_EQ(Heard(Once()), "ig");
}

TEST(FiltersTest, MainRankIsZero) {
  EXPECT_EQ(Heard(MainRankOnly(0)), "iggiggigg");
  EXPECT_EQ(Heard(MainRankOnly(1)), "");
}

TEST(FiltersTest, BothMustLetThrough) {
  EXPECT_EQ(Heard(Both(EveryNth(2), EveryNth(3))), "g");
  EXPECT_EQ(Heard(Both(MainRankOnly(1), EveryNth(1))), "");
}

TEST(FiltersTest, RefusesNothingToCount) {
  EXPECT_THROW(EveryNth(0), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

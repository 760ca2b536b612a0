#include "callbacks/callback_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "callbacks/testing/fake_run.h"
#include "tracking/run_history.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Log = std::vector<std::string>;

// Writes down the starts of runs and epochs under its own name.
class Recorder : public Callback {
 public:
  Recorder(Log& log, std::string label, int priority = 0)
      : log_(log), label_(std::move(label)), priority_(priority) {}
  int priority() const override { return priority_; }
  void OnRunStart(const RunStart&, Control&) override {
    log_.push_back(label_ + ":run");
  }
  void OnEpochStart(const EpochStart&, Control&) override {
    log_.push_back(label_ + ":epoch");
  }

 private:
  Log& log_;
  std::string label_;
  int priority_;
};

class Thrower final : public Callback {
 public:
  void OnRunStart(const RunStart&, Control&) override {
    throw std::runtime_error("no disk");
  }
  void OnRunEnd(const RunEnd&, Control&) override {
    throw std::runtime_error("no disk");
  }
};

struct CoffeeBreak {
  int minutes;
};

class Barista final : public Callback, public Handles<CoffeeBreak> {
 public:
  void Handle(const CoffeeBreak& event, Control& control) override {
    minutes += event.minutes;
    if (event.minutes < 0) throw std::invalid_argument("time runs forward");
    if (minutes > 10) control.RequestStop("too much coffee");
  }
  int minutes = 0;
};

class CallbackHandlerTest : public ::testing::Test {
 protected:
  RunStart run_start() {
    return {config_, clock_, /*resumed=*/false, FakeBackend()};
  }

  RunConfig config_;
  RunClock clock_;
  Control control_;
  CallbackHandler handler_{control_};
  Log log_;
};

TEST_F(CallbackHandlerTest, AFunctionIsHeardThoughAddedByItsBaseClass) {
  int starts = 0;
  On<RunStart> count([&](const RunStart&, Control&) { ++starts; });
  Callback& base = count;
  handler_.Add(base);
  handler_.Fire(run_start());
  EXPECT_EQ(starts, 1);
}

TEST_F(CallbackHandlerTest, CallsInOrderOfPriorityThenOfAdding) {
  handler_.Add(Recorder(log_, "late", 5), {.duplicates = Duplicates::kAllow});
  handler_.Add(Recorder(log_, "first"), {.duplicates = Duplicates::kAllow});
  handler_.Add(Recorder(log_, "second"), {.duplicates = Duplicates::kAllow});
  handler_.Add(Recorder(log_, "early", -5), {.duplicates = Duplicates::kAllow});
  handler_.Fire(run_start());
  EXPECT_THAT(log_,
              ElementsAre("early:run", "first:run", "second:run", "late:run"));
}

TEST_F(CallbackHandlerTest, AUsersEventComesInOrderOfPriorityToo) {
  const auto say = [&](std::string word) {
    return [this, word](const CoffeeBreak&, Control&) { log_.push_back(word); };
  };
  const AddOptions more{.duplicates = Duplicates::kAllow};
  handler_.Add(On<CoffeeBreak>(say("late"), /*priority=*/5), more);
  handler_.Add(On<CoffeeBreak>(say("first")), more);
  handler_.Add(On<CoffeeBreak>(say("second")), more);
  handler_.Add(On<CoffeeBreak>(say("early")),
               {.duplicates = Duplicates::kAllow, .priority = -5});
  handler_.Fire(CoffeeBreak{5});
  EXPECT_THAT(log_, ElementsAre("early", "first", "second", "late"));
}

TEST_F(CallbackHandlerTest, AUsersEventIsFilteredAndCountedOnItsOwn) {
  const auto odd = [](int64_t occurrence) { return occurrence % 2 == 1; };
  Barista barista;
  handler_.Add(barista, {.filter = odd});
  handler_.Fire(CoffeeBreak{1});
  handler_.Fire(run_start());  // another event: not counted
  handler_.Fire(CoffeeBreak{2});
  handler_.Fire(CoffeeBreak{4});
  EXPECT_EQ(barista.minutes, 5);
}

TEST_F(CallbackHandlerTest, FindsAllOfAClassInTheOrderOfAdding) {
  Recorder a(log_, "a", /*priority=*/9), b(log_, "b");
  handler_.Add(a);
  handler_.Add(b, {.duplicates = Duplicates::kAllow});
  handler_.Add(Barista());
  EXPECT_THAT(handler_.FindAll<Recorder>(), ElementsAre(&a, &b));
}

TEST_F(CallbackHandlerTest, BorrowsVariablesAndKeepsTemporaries) {
  Recorder borrowed(log_, "borrowed");
  EXPECT_EQ(&handler_.Add(borrowed), &borrowed);
  handler_.Add(Recorder(log_, "kept"), {.duplicates = Duplicates::kAllow});
  handler_.Fire(EpochStart{config_, clock_, 3});
  EXPECT_THAT(log_, ElementsAre("borrowed:epoch", "kept:epoch"));
}

TEST_F(CallbackHandlerTest, RejectsTwoOfOneClassByName) {
  handler_.Add(Recorder(log_, "a"));
  try {
    handler_.Add(Recorder(log_, "b"));
    FAIL() << "a second Recorder was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("a Recorder was added before"));
  }
  handler_.Fire(run_start());
  EXPECT_THAT(log_, ElementsAre("a:run"));
}

TEST_F(CallbackHandlerTest, RejectsTheSameObjectEvenWhereDuplicatesAreAllowed) {
  Recorder recorder(log_, "a");
  handler_.Add(recorder);
  EXPECT_THROW(handler_.Add(recorder, {.duplicates = Duplicates::kAllow}),
               std::invalid_argument);
}

TEST_F(CallbackHandlerTest, ErrorNamesCallbackAndHookAndKeepsTheCause) {
  handler_.Add(Thrower());
  try {
    handler_.Fire(run_start());
    FAIL() << "nothing was thrown";
  } catch (const CallbackError& e) {
    EXPECT_STREQ(e.what(), "Thrower threw in OnRunStart: no disk");
    EXPECT_THROW(std::rethrow_if_nested(e), std::runtime_error);
  }
}

TEST_F(CallbackHandlerTest, FireToAllReachesEveryoneAndReturnsTheFirstError) {
  int ended = 0;
  handler_.Add(Thrower());
  handler_.Add(On<RunEnd>([&](const RunEnd&, Control&) {
    ++ended;
    throw std::runtime_error("a later error");
  }));
  const std::string message;
  const InMemoryRunHistory history;
  const std::exception_ptr error = handler_.FireToAll(
      RunEnd{clock_, history, RunEnding::kFinished, message});
  EXPECT_EQ(ended, 1);
  try {
    std::rethrow_exception(error);
  } catch (const CallbackError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no disk"));
  }
}

TEST_F(CallbackHandlerTest, FunctionsAreCallbacks) {
  handler_.Add(On<RunStart>([&](const RunStart&, Control& control) {
    control.RequestStop("at once");
  }));
  handler_.Fire(run_start());
  EXPECT_EQ(control_.reason(), "at once");
}

TEST_F(CallbackHandlerTest, UsersEventsReachThoseThatHandleThem) {
  Recorder recorder(log_, "a");
  Barista barista;
  handler_.Add(recorder);
  handler_.Add(barista);
  handler_.Fire(CoffeeBreak{8});
  EXPECT_FALSE(control_.stop_requested());
  handler_.Fire(CoffeeBreak{8});
  EXPECT_EQ(barista.minutes, 16);
  EXPECT_TRUE(control_.stop_requested());
  EXPECT_TRUE(log_.empty());
}

TEST_F(CallbackHandlerTest, AnErrorInAUsersOwnEventNamesBoth) {
  handler_.Add(Barista());
  try {
    handler_.Fire(CoffeeBreak{-1});
    FAIL() << "nothing was thrown";
  } catch (const CallbackError& e) {
    EXPECT_THAT(e.what(), HasSubstr("Barista threw in "));
    EXPECT_THAT(e.what(), HasSubstr("CoffeeBreak: time runs forward"));
  }
}

class Counter final : public Callback, public Stateful {
 public:
  State SaveState() const override { return State(); }
  void LoadState(const State&) override {}
};

TEST_F(CallbackHandlerTest, ListsThoseWithStateByName) {
  Counter one, two;
  handler_.Add(Barista());
  handler_.Add(one);
  handler_.Add(two, {.duplicates = Duplicates::kAllow});
  EXPECT_THAT(handler_.StatefulCallbacks(),
              ElementsAre(::testing::Pair("Counter", &one),
                          ::testing::Pair("Counter#2", &two)));
}

TEST_F(CallbackHandlerTest, KnowsWhetherAnybodyListens) {
  EXPECT_FALSE(handler_.Hears<RunStart>());
  handler_.Add(Recorder(log_, "a"));
  EXPECT_TRUE(handler_.Hears<RunStart>());
  EXPECT_FALSE(handler_.Hears<MetricsReport>());
}

TEST_F(CallbackHandlerTest, APriorityCanBeGivenWhenAdding) {
  handler_.Add(Recorder(log_, "first"));
  handler_.Add(Recorder(log_, "before"),
               {.duplicates = Duplicates::kAllow, .priority = -1});
  handler_.Fire(run_start());
  EXPECT_THAT(log_, ElementsAre("before:run", "first:run"));
}

// The order is fixed when a callback is added.
TEST_F(CallbackHandlerTest, APriorityThatChangesLaterMovesNobody) {
  class Moving final : public Callback {
   public:
    explicit Moving(Log& log) : log_(log) {}
    int priority() const override { return now; }
    void OnRunStart(const RunStart&, Control&) override {
      log_.push_back("moving:run");
    }
    int now = 1;

   private:
    Log& log_;
  };
  Moving moving(log_);
  handler_.Add(moving);
  handler_.Add(Recorder(log_, "fixed"));
  moving.now = -1;
  handler_.Fire(run_start());
  EXPECT_THAT(log_, ElementsAre("fixed:run", "moving:run"));
}

TEST_F(CallbackHandlerTest, FindsByClass) {
  Barista barista;
  handler_.Add(barista);
  EXPECT_EQ(handler_.Find<Barista>(), &barista);
  EXPECT_EQ(handler_.Find<Thrower>(), nullptr);
}

TEST_F(CallbackHandlerTest, DescribesOnlyWhatIsOverridden) {
  handler_.Add(Recorder(log_, "a", 7));
  handler_.Add(On<RunStart>([](const RunStart&, Control&) {}));
  const std::string table = handler_.Describe();
  EXPECT_THAT(
      table,
      HasSubstr("| OnRunStart | On<RunStart> | 0 |\n|  | Recorder | 7 |\n"));
  EXPECT_THAT(table, HasSubstr("| OnEpochStart | Recorder | 7 |\n"));
  EXPECT_THAT(table, HasSubstr("| OnStepEnd | (none) | |\n"));
  EXPECT_THAT(table, Not(HasSubstr("trainyard::")));
}

TEST_F(CallbackHandlerTest, AClassKnownOnlyByItsBaseGetsEveryEvent) {
  Recorder recorder(log_, "a");
  Callback& base = recorder;
  handler_.Add(base);
  handler_.Fire(run_start());
  EXPECT_THAT(log_, ElementsAre("a:run"));
  EXPECT_THAT(handler_.Describe(), HasSubstr("| OnStepEnd | Recorder | 0 |"));
}

// The three lists of hooks.h agree: each hook takes the event at its place.
template <size_t... kEvents>
constexpr bool TablesAgree(std::index_sequence<kEvents...>) {
  return (std::is_same_v<
              std::tuple_element_t<kEvents, decltype(HooksOf<Callback>())>,
              void (Callback::*)(const EventAt<kEvents>&, Control&)> &&
          ...);
}
static_assert(TablesAgree(std::make_index_sequence<kNumEvents>()));

}  // namespace
}  // namespace trainyard

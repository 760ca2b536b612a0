#include "tools/testing/error_of.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

TEST(ErrorOfTest, IsWhatTheExceptionSays) {
  EXPECT_EQ(ErrorOf([] { throw std::invalid_argument("lr is 0"); }), "lr is 0");
  EXPECT_EQ(ErrorOf<std::exception>([] { throw std::logic_error("bad"); }),
            "bad");
}

TEST(ErrorOfTest, IsEmptyIfNothingIsThrown) {
  EXPECT_EQ(ErrorOf([] {}), "");
}

TEST(ErrorOfTest, AnotherClassIsThrownOn) {
  EXPECT_THROW(ErrorOf([] { throw std::runtime_error("no disk"); }),
               std::runtime_error);
}

// As c10::Error has it.
struct Traced : std::runtime_error {
  Traced() : std::runtime_error("bad\nbacktrace") {}
  const char* what_without_backtrace() const { return "bad"; }
};

TEST(ErrorOfTest, LeavesABacktraceOut) {
  EXPECT_EQ(ErrorOf<Traced>([] { throw Traced(); }), "bad");
}

}  // namespace
}  // namespace trainyard

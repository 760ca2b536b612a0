#include "tracking/sinks/console.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tools/testing/memory_output.h"

namespace trainyard {
namespace {

TEST(ConsoleTest, PrintsNamesOnceAndEveryNthRow) {
  MemoryOutput output;
  const auto sink = MakeConsole({.output = output.file(), .every = 2});
  sink->Open(0);
  for (int step = 1; step <= 3; ++step) {
    sink->Write(
        {.step = step, .what = tracking::Row{{"loss", 0.5}, {"lr", 0.001}}});
  }
  sink->Write({.step = 3, .what = tracking::Row{{"eval_accuracy", 0.91}}});
  sink->Write(
      {.step = 3, .what = tracking::Text{.name = "left", .text = "out"}});
  sink->Flush();
  EXPECT_EQ(output.Written(),
            "      step        loss          lr\n"
            "         1         0.5       0.001\n"
            "         3         0.5       0.001\n"
            "      step  eval_accuracy\n"
            "         3           0.91\n");
}

TEST(ConsoleTest, InvalidOptionsAreErrors) {
  EXPECT_THROW(MakeConsole({.every = 0}), std::invalid_argument);
  EXPECT_THROW(MakeConsole({.output = nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace trainyard

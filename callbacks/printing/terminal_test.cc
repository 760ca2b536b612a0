#include "callbacks/printing/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/testing/memory_output.h"

namespace trainyard {
namespace {

// A terminal of the kernel's, 57 columns wide.
class TerminalTest : public ::testing::Test {
 protected:
  TerminalTest() {
    winsize size = {};
    size.ws_col = 57;
    int terminal = -1;
    EXPECT_EQ(openpty(&master_, &terminal, nullptr, nullptr, &size), 0);
    output_ = fdopen(terminal, "w");
    setenv("TERM", "xterm", 1);
  }
  ~TerminalTest() override {
    std::fclose(output_);
    close(master_);
  }

  int master_ = -1;
  std::FILE* output_ = nullptr;
};

TEST_F(TerminalTest, KnowsATerminalAndItsWidth) {
  EXPECT_TRUE(IsTerminal(output_));
  EXPECT_EQ(TerminalWidth(output_), 57);
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(IsTerminal(output_));
}

TEST_F(TerminalTest, AFileIsNone) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(IsTerminal(file));
  EXPECT_EQ(TerminalWidth(file), 80);
  std::fclose(file);
}

TEST_F(TerminalTest, NorIsAStreamInMemory) {
  const MemoryOutput memory;
  EXPECT_FALSE(IsTerminal(memory.file()));
  EXPECT_EQ(TerminalWidth(memory.file()), 80);
}

TEST(EnvironmentIsUtf8Test, TheFirstVariableThatIsSetDecides) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) unsetenv(name);
  EXPECT_FALSE(EnvironmentIsUtf8());
  setenv("LANG", "de_CH.utf8", 1);
  EXPECT_TRUE(EnvironmentIsUtf8());
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(EnvironmentIsUtf8());
  setenv("LC_ALL", "", 1);
  EXPECT_TRUE(EnvironmentIsUtf8());
}

}  // namespace
}  // namespace trainyard

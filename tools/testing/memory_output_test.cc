#include "tools/testing/memory_output.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace trainyard {
namespace {

TEST(MemoryOutputTest, HeaderExample) {
  MemoryOutput output;
  std::fprintf(output.file(), "epoch %d\n", 1);
  EXPECT_EQ(output.Written(), "epoch 1\n");
}

TEST(MemoryOutputTest, ReturnsEachTextOnce) {
  MemoryOutput output;
  EXPECT_EQ(output.Written(), "");
  std::fputs("a", output.file());
  EXPECT_EQ(output.Written(), "a");
  std::fputs("b", output.file());
  EXPECT_EQ(output.Written(), "b");
  EXPECT_EQ(output.Written(), "");
}

}  // namespace
}  // namespace trainyard

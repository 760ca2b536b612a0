#include "backends/make_single_backend.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

TEST(MakeSingleBackendTest, HeaderExample) {
  const auto backend =
      MakeSingleBackend("sp-amp", {.amp = {.dtype = at::kHalf}});
  EXPECT_EQ(backend->name(), "sp-amp");
  EXPECT_TRUE(backend->SaveState().Has("scale"));
}

TEST(MakeSingleBackendTest, SpHasNoScale) {
  const auto backend = MakeSingleBackend("sp");
  EXPECT_EQ(backend->name(), "sp");
  EXPECT_FALSE(backend->SaveState().Has("scale"));
}

// Each process would train its own model.
TEST(MakeSingleBackendTest, RejectsSpUnderALauncherOfSeveralRanks) {
  const auto message_of = [](const char* name) -> std::string {
    try {
      MakeSingleBackend(name);
    } catch (const c10::ValueError& e) {
      return e.what_without_backtrace();
    }
    return "";
  };
  const std::vector<std::pair<const char*, const char*>> launchers = {
      {"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}};
  for (const auto& [rank, size] : launchers) {
    ASSERT_EQ(setenv(rank, "0", 1), 0);
    ASSERT_EQ(setenv(size, "2", 1), 0);
    const std::string sp = message_of("sp"), amp = message_of("sp-amp");
    ASSERT_EQ(setenv(size, "1", 1), 0);
    const std::string one = message_of("sp");
    ASSERT_EQ(unsetenv(size), 0);
    ASSERT_EQ(unsetenv(rank), 0);
    EXPECT_THAT(sp, HasSubstr("use \"ddp\"")) << size;
    EXPECT_THAT(amp, HasSubstr("use \"ddp-amp\"")) << size;
    EXPECT_EQ(one, "") << size;
  }
}

TEST(MakeSingleBackendTest, AnotherNameListsTheKnownOnes) {
  for (const char* const name : {"ddp", "tpu", "-amp", ""}) {
    try {
      MakeSingleBackend(name);
      FAIL() << "there was a backend \"" << name << "\"";
    } catch (const c10::ValueError& e) {
      EXPECT_THAT(e.what(),
                  HasSubstr("there is no backend \"" + std::string(name) +
                            "\" for one process; there are: sp and "
                            "sp-amp"));
    }
  }
}

}  // namespace
}  // namespace trainyard

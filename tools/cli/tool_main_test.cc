#include "tools/cli/tool_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class ToolMainTest : public ::testing::Test {
 protected:
  ~ToolMainTest() override { unsetenv("BUILD_WORKING_DIRECTORY"); }

  char program_[5] = "tool", argument_[5] = "list";
  char* argv_[3] = {program_, argument_, nullptr};
};

TEST_F(ToolMainTest, RunsInTheFolderOfTheUser) {
  const std::filesystem::path folder =
      std::filesystem::canonical(::testing::TempDir());
  setenv("BUILD_WORKING_DIRECTORY", folder.c_str(), 1);
  std::vector<std::string> arguments;
  EXPECT_EQ(ToolMain(2, argv_,
                     [&](const auto& given) {
                       arguments = given;
                       return 7;
                     }),
            7);
  EXPECT_THAT(arguments, ElementsAre("list"));
  EXPECT_EQ(std::filesystem::current_path(), folder);
}

TEST_F(ToolMainTest, FailsIfTheFolderDoesNotExist) {
  setenv("BUILD_WORKING_DIRECTORY", "/no/such/folder", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ToolMain(2, argv_,
                     [](const auto&) {
                       ADD_FAILURE() << "run was called";
                       return 0;
                     }),
            1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "tool: cannot change to the folder /no/such/folder: No such file "
            "or directory\n");
}

}  // namespace
}  // namespace trainyard

#include "tools/launch/program_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

class ProgramPathTest : public ::testing::Test {
 protected:
  ProgramPathTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / test->name();
    fs::remove_all(root_);
    folders_ = {.outputs = {root_ / "runfiles", root_ / "bazel-bin"},
                .path = ":" + (root_ / "bin").string()};
  }

  std::string Make(const std::string& path, bool program = true) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "x";
    if (program) fs::permissions(root_ / path, fs::perms::owner_all);
    return root_ / path;
  }

  std::string Error(const std::string& name) {
    try {
      return "found " + FindProgram(name, folders_);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  }

  fs::path root_;
  ProgramFolders folders_;
};

TEST_F(ProgramPathTest, AnExampleComesBeforeAProgramOfTheSameName) {
  const std::string on_path = Make("bin/gan");
  EXPECT_EQ(FindProgram("gan", folders_), on_path);
  const std::string built = Make("bazel-bin/tools/examples/gan");
  EXPECT_EQ(FindProgram("gan", folders_), built);
  const std::string runfile = Make("runfiles/tools/examples/gan");
  EXPECT_EQ(FindProgram("gan", folders_), runfile);
}

TEST_F(ProgramPathTest, ALabelIsAFileBelowTheOutputs) {
  const std::string built = Make("bazel-bin/some/folder/program");
  EXPECT_EQ(FindProgram("//some/folder:program", folders_), built);
  EXPECT_THAT(Error("//some/folder:other"),
              HasSubstr("'tools/bazel build //some/folder:other'"));
}

TEST_F(ProgramPathTest, APathIsTakenAsItIs) {
  const std::string path = Make("anywhere/program");
  EXPECT_EQ(FindProgram(path, folders_), path);
}

TEST_F(ProgramPathTest, SaysWhatIsWrong) {
  EXPECT_THAT(Error("absent"), HasSubstr("'tools/bazel build "
                                         "//tools/examples:absent'"));
  EXPECT_THAT(Error("./absent"), HasSubstr("there is no such file"));
  EXPECT_THAT(Error(Make("a/text", false)), HasSubstr("it cannot be run"));
  fs::create_directories(root_ / "bin" / "folder");
  EXPECT_THAT(Error("folder"), HasSubstr("neither a built example"));
}

}  // namespace
}  // namespace trainyard

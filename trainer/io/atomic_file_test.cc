#include "trainer/io/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }

  std::string PathOf(const std::string& name) { return folder_ + "/" + name; }

  std::vector<std::string> Files() {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      names.push_back(file.path().filename());
    }
    return names;
  }

  static std::string Content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string folder_;
};

TEST_F(AtomicFileTest, ReplacesOnlyAtCommit) {
  const std::string path = PathOf("file");
  std::ofstream(path) << "old";
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, 6);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->Append("new", 3).ok());
  EXPECT_TRUE(file->Append("er", 2).ok());
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(Files().size(), 2U);
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Content(path), "newer") << "unused reserved space is released";
  EXPECT_THAT(Files(), ElementsAre("file"));
  EXPECT_TRUE(absl::IsFailedPrecondition(file->Append("x", 1)));
  EXPECT_TRUE(absl::IsFailedPrecondition(file->Commit()));
  EXPECT_EQ(Content(path), "newer");
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(PathOf("file"));
    ASSERT_TRUE(file.ok()) << file.status();
    const AtomicFile moved = *std::move(file);
    EXPECT_EQ(Files().size(), 1U);
    EXPECT_THAT(Files()[0], HasSubstr(AtomicFile::kPrefix));
  }
  EXPECT_THAT(Files(), IsEmpty());
}

absl::Status HeaderExample(const char* data) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create("model.bin", 24);
  if (!file.ok()) return file.status();
  absl::Status status = file->Append(data, 24);
  if (status.ok()) status = file->Commit();  // durable if OK
  return status;
}

TEST_F(AtomicFileTest, HeaderExample) {
  std::filesystem::current_path(folder_);
  absl::Status all = WriteFileAtomically("model.bin", "all of its bytes");
  ASSERT_TRUE(all.ok()) << all;
  EXPECT_EQ(Content(PathOf("model.bin")), "all of its bytes");
  ASSERT_TRUE(HeaderExample("twenty-four bytes follow").ok());
  EXPECT_EQ(Content(PathOf("model.bin")), "twenty-four bytes follow");
  EXPECT_THAT(Files(), ElementsAre("model.bin"));
}

TEST_F(AtomicFileTest, TheFileHasTheUsersPermissions) {
  const mode_t mask = umask(027);
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(PathOf("file"));
  umask(mask);
  ASSERT_TRUE(file.ok() && file->Commit().ok());
  struct stat info = {};
  ASSERT_EQ(stat(PathOf("file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
}

TEST_F(AtomicFileTest, AcceptsANameOfMaximumLength) {
  const std::string path = PathOf(std::string(255, 'x'));
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->Commit().ok());
}

TEST_F(AtomicFileTest, ErrorsNameTheFileAndTheFailedCall) {
  const absl::Status missing =
      AtomicFile::Create(PathOf("missing/file")).status();
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
  EXPECT_THAT(std::string(missing.message()),
              HasSubstr("missing/file: cannot be created"));
  EXPECT_THAT(std::string(AtomicFile::Create("/tmp/").status().message()),
              EndsWith("\"/tmp/\" is not the path of a file"));
  // More than any disk has.
  const absl::Status full =
      AtomicFile::Create(PathOf("file"), uint64_t{1} << 62).status();
  EXPECT_THAT(std::string(full.message()),
              HasSubstr("file: cannot reserve disk space for it"));
  EXPECT_THAT(Files(), IsEmpty());
  // A folder cannot be replaced by a file.
  std::filesystem::create_directory(PathOf("folder"));
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(PathOf("folder"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(std::string(file->Commit().message()),
              HasSubstr("folder: cannot be renamed to"));
  EXPECT_THAT(Files(), ElementsAre("folder"));
}

}  // namespace
}  // namespace trainyard

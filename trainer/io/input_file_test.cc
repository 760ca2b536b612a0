#include "trainer/io/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace trainyard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string PathOf(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(InputFileTest, ReadsAnyPart) {
  const std::string path = PathOf("digits");
  std::ofstream(path) << "0123456789";
  absl::StatusOr<InputFile> opened = InputFile::Open(path);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const InputFile file = *std::move(opened);
  EXPECT_EQ(file.size(), 10U);
  std::string part(4, '\0');
  EXPECT_TRUE(file.ReadAt(3, part.data(), 4).ok());
  EXPECT_EQ(part, "3456");
  EXPECT_TRUE(file.ReadAt(10, part.data(), 0).ok());
  const absl::Status past = file.ReadAt(8, part.data(), 4);
  EXPECT_TRUE(absl::IsDataLoss(past));
  EXPECT_THAT(Message(past),
              EndsWith("digits: ends at byte 10, with 2 more to be read"));
}

TEST(InputFileTest, ATruncatedFileIsAnError) {
  const std::string path = PathOf("cut");
  std::ofstream(path) << "0123456789";
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(truncate(path.c_str(), 5), 0);
  std::string all(10, '\0');
  EXPECT_TRUE(absl::IsDataLoss(file->ReadAt(0, all.data(), 10)));
}

TEST(InputFileTest, ErrorsSayWhyItCannotBeOpened) {
  const absl::Status missing = InputFile::Open(PathOf("missing")).status();
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
  EXPECT_THAT(Message(missing), HasSubstr("missing: cannot be opened"));
  EXPECT_THAT(Message(InputFile::Open(::testing::TempDir()).status()),
              EndsWith(": is a folder, not a file"));
  const std::string pipe = PathOf("pipe");
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(Message(InputFile::Open(pipe).status()),
              EndsWith("pipe: is not a regular file"));
  EXPECT_THAT(Message(InputFile::Open("/dev/zero").status()),
              EndsWith("/dev/zero: is not a regular file"));
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/datasets/mapped_file.h"

#include <absl/status/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string_view>
#include <utility>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string FileOf(const std::string& content) {
  const std::string path = ::testing::TempDir() + "/mapped";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(MappedFileTest, DataIsTheContentOfTheFile) {
  const std::string content(10000, 'x');
  absl::StatusOr<MappedFile> file = MappedFile::Open(FileOf(content));
  ASSERT_TRUE(file.ok()) << file.status();
  file->ExpectRandomReads();
  file->ReadAhead(5000, 5000);
  file->ReadAhead(9999, 2);  // past the end: nothing
  const MappedFile moved = *std::move(file);
  EXPECT_EQ(std::string_view(moved.data(), moved.size()), content);
}

TEST(MappedFileTest, MayBeEmpty) {
  const absl::StatusOr<MappedFile> file = MappedFile::Open(FileOf(""));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->size(), 0U);
  file->ExpectRandomReads();
}

TEST(MappedFileTest, ErrorNamesTheFileAndTheProblem) {
  const absl::Status absent = MappedFile::Open("/nowhere/x").status();
  EXPECT_EQ(absent.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(absent.message()), HasSubstr("/nowhere/x"));
  EXPECT_EQ(MappedFile::Open(::testing::TempDir()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open("/dev/null").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard

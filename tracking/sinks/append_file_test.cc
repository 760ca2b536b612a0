#include "tracking/sinks/append_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace trainyard {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(AppendFileTest, HeaderExample) {
  const std::string path = ::testing::TempDir() + "/a/metrics.jsonl";
  AppendFile file;
  file.Open(path, 0);
  file.Append("{\"step\":1}\n");
  const int64_t position = file.Sync();
  EXPECT_EQ(position, 11);
  EXPECT_EQ(Read(path), "{\"step\":1}\n");
}

TEST(AppendFileTest, IsTruncatedToAPosition) {
  const std::string path = ::testing::TempDir() + "/b";
  AppendFile file;
  file.Open(path, 0);
  file.Append("one\ntwo\nth");
  file.Open(path, 4);
  file.Append("2\n");
  EXPECT_EQ(file.Sync(), 6);
  EXPECT_EQ(Read(path), "one\n2\n");
}

TEST(AppendFileTest, WritesPiecesLargerThanItsBuffer) {
  const std::string path = ::testing::TempDir() + "/c";
  const std::string large(200'000, 'x');
  {
    AppendFile file;
    file.Open(path, 0);
    file.Append(large);
    file.Append("y");
  }
  EXPECT_EQ(Read(path), large + "y");
}

TEST(AppendFileTest, NamesTheFileItCannotOpen) {
  AppendFile file;
  EXPECT_THROW(file.Open("/proc/no/such/file", 0), std::system_error);
}

}  // namespace
}  // namespace trainyard

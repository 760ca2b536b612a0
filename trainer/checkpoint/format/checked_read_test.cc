#include "trainer/checkpoint/format/checked_read.h"

#include <gtest/gtest.h>

#include <random>

#include "trainer/io/crc32c.h"
#include "trainer/io/testing/memory_file_system.h"

namespace trainyard {
namespace {

class CheckedReadTest : public ::testing::TestWithParam<size_t> {};

TEST_P(CheckedReadTest, ReadsBytesAndComputesChecksums) {
  std::string bytes(GetParam(), '\0');
  std::mt19937_64 random(1);
  for (size_t at = 0; at < bytes.size(); at += 100) {
    bytes[at] = static_cast<char>(random());
  }
  MemoryFileSystem files;
  files.Put("/file", bytes);
  const auto file = InputFile::Open("/file", files);
  ASSERT_TRUE(file.ok()) << file.status();
  // Reads the middle; only checks the ends, one of which is empty.
  const size_t cuts[] = {0, 7, 7, bytes.size() - 3, bytes.size()};
  std::string middle(bytes.size(), 'x');
  std::vector<CheckedPart> parts;
  for (int i = 0; i < 4; ++i) {
    parts.push_back({.offset = cuts[i],
                     .size = cuts[i + 1] - cuts[i],
                     .to = i == 2 ? middle.data() : nullptr});
  }
  ASSERT_TRUE(ReadChecked(*file, parts).ok());
  for (const CheckedPart& part : parts) {
    EXPECT_EQ(part.crc32c, Crc32c(bytes.data() + part.offset, part.size));
  }
  EXPECT_EQ(middle.substr(0, bytes.size() - 10),
            bytes.substr(7, bytes.size() - 10));
  // The file was truncated meanwhile.
  parts[3].size = 4;
  EXPECT_TRUE(absl::IsDataLoss(ReadChecked(*file, parts)));
}

INSTANTIATE_TEST_SUITE_P(Sizes, CheckedReadTest,
                         ::testing::Values(10, 1'000'000, 20'000'001));

}  // namespace
}  // namespace trainyard

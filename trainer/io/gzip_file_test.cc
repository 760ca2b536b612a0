#include "trainer/io/gzip_file.h"

#include <absl/strings/match.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

namespace trainyard {
namespace {

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/gzip_file_test_" + name;
}

std::string Write(const std::string& name, const std::string& content) {
  const std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string Gzipped(const std::string& content) {
  const std::string path = TempPath("packed.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919 % 10007);
  return text;
}

TEST(ReadMaybeGzipFileTest, ReadsPlainAndPackedFilesAlike) {
  EXPECT_EQ(*ReadMaybeGzipFile(Write("plain", Text())), Text());
  EXPECT_EQ(*ReadMaybeGzipFile(Write("packed", Gzipped(Text()))), Text());
  EXPECT_EQ(*ReadMaybeGzipFile(Write("empty", "")), "");
}

TEST(ReadMaybeGzipFileTest, EveryCutIsNoticed) {
  const std::string packed = Gzipped(std::string(1000, 'a') + "b");
  for (size_t size = 2; size < packed.size(); ++size) {
    const auto content =
        ReadMaybeGzipFile(Write("cut", packed.substr(0, size)));
    ASSERT_EQ(content.status().code(), absl::StatusCode::kDataLoss)
        << "cut to " << size << " of " << packed.size();
  }
}

TEST(ReadMaybeGzipFileTest, ADamagedHeaderIsNoticed) {
  std::string damaged = Gzipped(Text());
  damaged[3] = '\xff';  // the flags
  EXPECT_EQ(ReadMaybeGzipFile(Write("damaged", damaged)).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(ReadMaybeGzipFileTest, ADamagedByteIsNoticed) {
  const std::string packed = Gzipped(Text());
  for (const size_t at :
       {packed.size() / 3, packed.size() / 2, packed.size() - 6}) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto content = ReadMaybeGzipFile(Write("damaged", damaged));
    EXPECT_EQ(content.status().code(), absl::StatusCode::kDataLoss) << at;
    EXPECT_TRUE(absl::StrContains(content.status().message(),
                                  "damaged: the gzip file is damaged ("))
        << content.status();
    EXPECT_FALSE(absl::StrContains(content.status().message(), "fd:"))
        << content.status();
  }
}

TEST(ReadMaybeGzipFileTest, SaysWhichFileCannotBeOpened) {
  const auto content = ReadMaybeGzipFile("/no/such/file.gz");
  EXPECT_EQ(content.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(
      absl::StrContains(content.status().message(), "/no/such/file.gz"));
  EXPECT_EQ(ReadMaybeGzipFile(::testing::TempDir()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ReadMaybeGzipFileTest, StopsAtTheLimit) {
  const std::string path = Write("bomb", Gzipped(std::string(5000000, 'a')));
  EXPECT_EQ(ReadMaybeGzipFile(path, 4999999).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ReadMaybeGzipFile(path, 5000000).ok());
}

}  // namespace
}  // namespace trainyard

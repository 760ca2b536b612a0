#include "trainer/io/zip_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "trainer/io/testing/memory_file_system.h"
#include "trainer/io/testing/zip_bytes.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

class ZipDirectoryTest : public ::testing::Test {
 protected:
  const InputFile& Open(std::string bytes) {
    files_.Put("/a.zip", std::move(bytes));
    opened_.push_back(
        std::make_unique<InputFile>(*InputFile::Open("/a.zip", files_)));
    return *opened_.back();
  }

  std::string Error(std::string bytes) {
    const auto entries = ReadZipDirectory(Open(std::move(bytes)));
    return std::string(entries.status().message());
  }

  MemoryFileSystem files_;
  std::vector<std::unique_ptr<InputFile>> opened_;
};

TEST_F(ZipDirectoryTest, ReadsEntriesOfBothWidths) {
  const std::vector<ZipPart> parts = {
      {"a/one", "first"}, {"a/two", ""}, {"b", "x"}};
  for (const bool wide : {false, true}) {
    const InputFile& file = Open(ZipBytes(parts, wide));
    const auto entries = ReadZipDirectory(file);
    ASSERT_TRUE(entries.ok()) << entries.status();
    ASSERT_EQ(entries->size(), 3);
    for (size_t i = 0; i < parts.size(); ++i) {
      const ZipEntry& entry = (*entries)[i];
      EXPECT_EQ(entry.name, parts[i].name);
      std::string bytes(entry.size, '\0');
      const absl::Status read = ReadZipEntry(file, entry, bytes.data());
      EXPECT_TRUE(read.ok()) << read;
      EXPECT_EQ(bytes, parts[i].bytes);
    }
  }
}

TEST_F(ZipDirectoryTest, DetectsAWrongChecksum) {
  std::string bytes = ZipBytes({{"one", "first"}});
  bytes.replace(bytes.find("first"), 5, "fIrst");
  const InputFile& file = Open(bytes);
  const auto entries = ReadZipDirectory(file);
  ASSERT_TRUE(entries.ok()) << entries.status();
  std::string read(5, '\0');
  const absl::Status status = ReadZipEntry(file, entries->front(), read.data());
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_EQ(status.message(),
            "/a.zip: \"one\" is damaged: its CRC-32 is wrong");
  EXPECT_TRUE(ReadZipEntry(file, entries->front(), read.data(), false).ok());
  EXPECT_EQ(read, "fIrst");
}

TEST_F(ZipDirectoryTest, RefusesWhatItCannotRead) {
  EXPECT_THAT(Error(""), HasSubstr("is not a zip archive"));
  EXPECT_THAT(Error("no archive, but long enough for an end"),
              HasSubstr("is not a zip archive"));
  for (const ZipPart& part :
       {ZipPart{"one", "x", 8}, ZipPart{"one", "x", 0, 1}}) {
    const InputFile& file = Open(ZipBytes({part}));
    const auto entries = ReadZipDirectory(file);
    ASSERT_TRUE(entries.ok()) << entries.status();
    char byte = 0;
    const absl::Status read = ReadZipEntry(file, entries->front(), &byte);
    EXPECT_EQ(read.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(read.message()),
                HasSubstr("\"one\" is compressed or encrypted"));
  }
  EXPECT_THAT(Error(ZipBytes({{"one", "x"}, {"one", "y"}})),
              HasSubstr("\"one\" occurs twice"));
}

// Every cut and every changed byte gives an error, or entries that lie in the
// file.
TEST_F(ZipDirectoryTest, DamageIsRefusedOrHarmless) {
  for (const bool wide : {false, true}) {
    const std::string whole = ZipBytes({{"one", "first"}, {"two", "2"}}, wide);
    int refused = 0;
    for (size_t at = 0; at < whole.size(); ++at) {
      EXPECT_FALSE(ReadZipDirectory(Open(whole.substr(0, at))).ok()) << at;
      for (const int change : {1, 128, 255}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] + change);
        const InputFile& file = Open(bytes);
        const auto entries = ReadZipDirectory(file);
        if (!entries.ok()) {
          ++refused;
          continue;
        }
        for (const ZipEntry& entry : *entries) {
          ASSERT_LE(entry.offset, file.size());
          ASSERT_LE(entry.size, file.size() - entry.offset);
        }
      }
    }
    EXPECT_GT(refused, 100);
  }
}

// The examples in the headers.
absl::Status ReadAll(const InputFile& file) {
  absl::StatusOr<std::vector<ZipEntry>> entries = ReadZipDirectory(file);
  if (!entries.ok()) return entries.status();
  for (const ZipEntry& entry : *entries) {
    std::string bytes(entry.size, '\0');
    absl::Status read = ReadZipEntry(file, entry, bytes.data());
    if (!read.ok()) return read;
  }
  return absl::OkStatus();
}

TEST_F(ZipDirectoryTest, Example) {
  const std::string bytes = ZipBytes({{"a/one", "first"}, {"a/two", ""}});
  EXPECT_TRUE(ReadAll(Open(bytes)).ok());
}

}  // namespace
}  // namespace trainyard

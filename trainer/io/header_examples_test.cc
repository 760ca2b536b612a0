// The examples in the headers of this folder. tools/lint/examples.py compares
// them.
#include <absl/status/status.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "trainer/io/crc32c.h"
#include "trainer/io/file_system.h"
#include "trainer/io/gzip_file.h"
#include "trainer/io/input_file.h"
#include "trainer/io/json_reader.h"
#include "trainer/io/json_string.h"
#include "trainer/io/output_file.h"
#include "trainer/io/testing/faulty_file_system.h"
#include "trainer/io/testing/file_system_wrapper.h"
#include "trainer/io/testing/memory_file_system.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

class HeaderExamplesTest : public ::testing::Test {
 protected:
  // The examples name files without a folder.
  void SetUp() override {
    std::filesystem::current_path(::testing::TempDir());
    std::filesystem::remove_all("run");
    std::filesystem::create_directory("run");
  }
};

TEST_F(HeaderExamplesTest, Crc32c) {
  const std::string first = "12345", second = "6789";
  uint32_t crc = Crc32c(first.data(), first.size());
  crc = Crc32c(second.data(), second.size(), crc);  // of both together
  EXPECT_EQ(crc, 0xE3069283);
}

absl::Status OpenLock() {
  FileSystem& files = RealFileSystem();
  const int file = files.Open("run/LOCK", O_RDWR | O_CREAT);
  if (file < 0) return absl::ErrnoToStatus(-file, "run/LOCK");
  files.Close(file);
  return absl::OkStatus();
}

TEST_F(HeaderExamplesTest, FileSystem) {
  EXPECT_TRUE(OpenLock().ok());
  EXPECT_TRUE(std::filesystem::exists("run/LOCK"));
}

TEST_F(HeaderExamplesTest, GzipFile) {
  std::ofstream("labels.gz") << "plain text";
  absl::StatusOr<std::string> text = ReadMaybeGzipFile("labels.gz");
  EXPECT_EQ(*text, "plain text");
}

absl::Status ReadEight(char* buffer) {
  absl::StatusOr<InputFile> file = InputFile::Open("model.safetensors");
  if (!file.ok()) return file.status();
  absl::Status status = file->ReadAt(0, buffer, 8);
  return status;
}

TEST_F(HeaderExamplesTest, InputFile) {
  std::ofstream("model.safetensors") << "12345678 and more";
  std::string bytes(8, ' ');
  EXPECT_TRUE(ReadEight(bytes.data()).ok());
  EXPECT_EQ(bytes, "12345678");
}

absl::Status ReadRate(double& lr) {
  JsonReader json(R"({"lr": 0.1, "names": ["a", "b"]})");
  std::string key;
  json.BeginObject();
  while (json.NextKey(key)) {
    if (key == "lr") {
      json.ReadDouble(lr);
    } else {
      json.Skip();
    }
  }
  json.End();
  if (!json.ok()) return json.status();  // "byte 17: expected a ':'"
  return absl::OkStatus();
}

TEST_F(HeaderExamplesTest, JsonReader) {
  double lr = 0;
  EXPECT_TRUE(ReadRate(lr).ok());
  EXPECT_EQ(lr, 0.1);
}

TEST_F(HeaderExamplesTest, JsonString) {
  const std::string json = JsonQuoted("say \"ä\"");  // with the quotes
  EXPECT_EQ(json, R"("say \"ä\"")");
}

absl::Status WriteModel(const char* data) {
  absl::StatusOr<OutputFile> file = OutputFile::Create("model.bin", 24);
  if (!file.ok()) return file.status();
  absl::Status status = file->Append(data, 24);
  if (status.ok()) status = file->Finish();  // durable and closed if OK
  return status;
}

TEST_F(HeaderExamplesTest, OutputFile) {
  std::filesystem::remove("model.bin");
  EXPECT_TRUE(WriteModel("twenty-four bytes follow").ok());
  EXPECT_EQ(std::filesystem::file_size("model.bin"), 24);
  EXPECT_TRUE(absl::IsAlreadyExists(WriteModel("")));
}

absl::Status InvalidName(std::string_view name) {
  return absl::InvalidArgumentError(std::string(name));
}

absl::Status CheckName(std::string_view name) {
  if (ValidUtf8Prefix(name) != name.size()) return InvalidName(name);
  return absl::OkStatus();
}

TEST_F(HeaderExamplesTest, Utf8) {
  EXPECT_TRUE(CheckName("ä").ok());
  EXPECT_FALSE(CheckName("\xff").ok());
}

class FullDisk final : public FileSystemWrapper {
 public:
  FullDisk() : FileSystemWrapper(RealFileSystem()) {}
  int Allocate(int, uint64_t) override { return -ENOSPC; }
};

TEST_F(HeaderExamplesTest, FileSystemWrapper) {
  FullDisk files;
  EXPECT_TRUE(absl::IsResourceExhausted(
      OutputFile::Create("full.bin", 24, files).status()));
}

TEST_F(HeaderExamplesTest, FaultyFileSystem) {
  FaultyFileSystem files(RealFileSystem());
  files.FailCall(17, EIO);
  files.StopAtCall(17);
  files.StopAt("commit.renamed");
  EXPECT_EQ(files.MakeFolder("run/before"), 0);
  EXPECT_FALSE(files.fault_fired());
  files.KillPoint("commit.renamed");
  EXPECT_TRUE(files.fault_fired());
  EXPECT_LT(files.MakeFolder("run/after"), 0);
  EXPECT_FALSE(std::filesystem::exists("run/after"));
}

TEST_F(HeaderExamplesTest, MemoryFileSystem) {
  const std::string bytes = "synced";
  MemoryFileSystem files;
  files.Put("/run/step-0000000001/manifest.pb", bytes);
  files.CutPower();
  FileInfo info;
  EXPECT_EQ(files.Stat("/run/step-0000000001/manifest.pb", info), 0);
  EXPECT_EQ(info.size, bytes.size());
}

}  // namespace
}  // namespace trainyard

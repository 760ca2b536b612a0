// The examples in the headers of this folder. tools/lint/examples.py compares
// them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/checkpoint/format/checked_read.h"
#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/format/shard_index.h"
#include "trainer/checkpoint/format/states.h"
#include "trainer/checkpoint/format/step_reader.h"
#include "trainer/checkpoint/format/step_writer.h"
#include "trainer/checkpoint/format/wire_count.h"
#include "trainer/io/crc32c.h"
#include "trainer/io/testing/memory_file_system.h"

namespace trainyard {
namespace {

TEST(HeaderExamplesTest, CheckedRead) {
  MemoryFileSystem files;
  files.Put("/file", "12345678 and more");
  const absl::StatusOr<InputFile> opened = InputFile::Open("/file", files);
  const InputFile& file = *opened;
  char buffer[8] = {};
  std::vector<CheckedPart> parts = {{.offset = 0, .size = 8, .to = buffer}};
  absl::Status read = ReadChecked(file, parts);  // sets parts[0].crc32c
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(std::string_view(buffer, 8), "12345678");
  EXPECT_EQ(parts[0].crc32c, Crc32c("12345678", 8));
}

TEST(HeaderExamplesTest, Frame) {
  const std::string message = "message";
  const std::string file = Framed(kManifestMagic, message);
  absl::StatusOr<std::string_view> read = Unframed(kManifestMagic, file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, message);
}

absl::Status ReadManifest(std::string_view bytes) {
  absl::StatusOr<pb::Manifest> manifest = ParseManifest(bytes);
  if (!manifest.ok()) return manifest.status();
  return absl::OkStatus();
}

TEST(HeaderExamplesTest, Manifest) {
  EXPECT_TRUE(absl::IsDataLoss(ReadManifest("no manifest")));
}

TEST(HeaderExamplesTest, ShardIndex) {
  const std::string json =
      R"({"metadata": {"total_size": 48},
          "weight_map": {"a.weight": "model-00001-of-00002.safetensors"}})";
  absl::StatusOr<ShardIndex> index = ParseShardIndex(json);
  const std::string file = index->weight_map.at("a.weight");
  EXPECT_EQ(file, ShardName("model", 0, 2));
  EXPECT_EQ(index->total_size, 48);
}

TEST(HeaderExamplesTest, States) {
  const std::string save_uuid(16, 'u');
  PartStates parts;
  parts["loader"].Set("position", int64_t{7});
  absl::StatusOr<std::string> file = FormatStates(parts, save_uuid);
  absl::StatusOr<ParsedStates> read = ParseStates(*file);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->parts.at("loader").Get<int64_t>("position"), 7);
  EXPECT_EQ(read->save_uuid, save_uuid);
}

// Both examples on one checkpoint.
absl::Status WriteOneFile(const std::string& save_uuid) {
  const std::string weights(24, 'w');
  SafetensorsHeader header;
  header.tensors = {
      {.name = "w", .dtype = SafetensorsDtype::kF32, .shape = {2, 3}}};
  const auto bytes_of =
      [&](const SafetensorsEntry&) -> absl::StatusOr<const void*> {
    return weights.data();
  };
  StepWriter writer("run/.tmp-step-7", save_uuid);
  absl::StatusOr<pb::FileEntry> file =
      writer.WriteTensors("model.safetensors", header, bytes_of);
  if (!file.ok()) return file.status();
  file->set_group("model");
  pb::Manifest manifest;
  manifest.set_format_version(kCheckpointFormat);
  manifest.set_min_reader_version(kCheckpointFormat);
  manifest.set_run_uuid(std::string(16, 'r'));
  manifest.set_save_uuid(save_uuid);
  manifest.set_world_size(1);
  *manifest.add_files() = *file;
  return writer.WriteManifest(manifest);
}

absl::Status VerifyStep() {
  absl::StatusOr<StepReader> step = StepReader::Open("run/step-0000000007");
  if (!step.ok()) return step.status();
  for (const pb::FileEntry& file : step->manifest().files()) {
    absl::Status intact = step->Verify(file);
    if (!intact.ok()) return intact;
  }
  return absl::OkStatus();
}

TEST(HeaderExamplesTest, StepWriterAndReader) {
  std::filesystem::current_path(::testing::TempDir());
  std::filesystem::remove_all("run");
  std::filesystem::create_directories("run/.tmp-step-7");
  const absl::Status written = WriteOneFile(std::string(16, 's'));
  ASSERT_TRUE(written.ok()) << written;
  std::filesystem::rename("run/.tmp-step-7", "run/step-0000000007");
  const absl::Status verified = VerifyStep();
  EXPECT_TRUE(verified.ok()) << verified;
}

TEST(HeaderExamplesTest, WireCount) {
  // Two empty entries of field 12.
  const std::string message("\x62\x00\x62\x00", 4);
  const int64_t files = CountOnWire(message, 12, 7).outer;  // of field 12
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace trainyard

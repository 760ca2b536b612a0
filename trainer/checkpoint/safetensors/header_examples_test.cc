// The examples in the headers of this folder. tools/lint/examples.py compares
// them.
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/safetensors/safetensors_dtype.h"
#include "trainer/checkpoint/safetensors/safetensors_header.h"
#include "trainer/checkpoint/safetensors/safetensors_layout.h"
#include "trainer/checkpoint/safetensors/safetensors_tensor.h"
#include "trainer/checkpoint/safetensors/sharded_safetensors.h"
#include "trainer/io/input_file.h"

namespace trainyard {
namespace {

class HeaderExamplesTest : public ::testing::Test {
 protected:
  // The examples name files without a folder.
  void SetUp() override {
    std::filesystem::current_path(::testing::TempDir());
    std::filesystem::create_directory("out");
    std::filesystem::create_directory("llama");
  }
  const at::Tensor weight = at::ones({2, 3});
};

TEST_F(HeaderExamplesTest, Safetensors) {
  absl::Status written = WriteSafetensors("model.safetensors", {{"w", weight}});
  absl::StatusOr<Safetensors> read = ReadSafetensors("model.safetensors");
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_TRUE(at::equal(read->tensors.at(0).tensor, weight));
}

TEST_F(HeaderExamplesTest, Dtype) {
  DtypeName(SafetensorsDtype::kBF16);  // "BF16"
  DtypeBits(SafetensorsDtype::kF4);    // 4
  EXPECT_EQ(DtypeName(SafetensorsDtype::kBF16), "BF16");
  EXPECT_EQ(DtypeBits(SafetensorsDtype::kF4), 4);
}

absl::Status AddBytes(const InputFile& file, uint64_t& bytes) {
  absl::StatusOr<SafetensorsHeader> header = ReadSafetensorsHeader(file);
  if (!header.ok()) return header.status();
  for (const SafetensorsEntry& tensor : header->tensors) {
    bytes += tensor.size();
  }
  return absl::OkStatus();
}

TEST_F(HeaderExamplesTest, Header) {
  ASSERT_TRUE(WriteSafetensors("model.safetensors", {{"w", weight}}).ok());
  uint64_t bytes = 0;
  EXPECT_TRUE(AddBytes(*InputFile::Open("model.safetensors"), bytes).ok());
  EXPECT_EQ(bytes, 24);
}

TEST_F(HeaderExamplesTest, Layout) {
  SafetensorsHeader header;
  header.tensors = {
      {.name = "w", .dtype = SafetensorsDtype::kF32, .shape = {2, 3}}};
  absl::Status status = LayOutTensors(header);  // begin = 0, end = 24
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(header.tensors[0].end, 24);
}

TEST_F(HeaderExamplesTest, Tensor) {
  absl::StatusOr<SafetensorsEntry> entry = EntryOf({"w", weight});
  absl::StatusOr<at::Tensor> bytes = HostBytes({"w", weight});
  absl::StatusOr<at::Tensor> same_shape = EmptyTensor(*entry);
  EXPECT_EQ(bytes->data_ptr(), weight.data_ptr());
  EXPECT_EQ(same_shape->sizes(), weight.sizes());
}

TEST_F(HeaderExamplesTest, Sharded) {
  const std::vector<NamedTensor> tensors = {{"v", weight}, {"w", weight}};
  ASSERT_TRUE(
      WriteShardedSafetensors("llama", tensors, {.max_shard_bytes = 24}).ok());
  auto read = ReadShardedSafetensors("llama/model.safetensors.index.json");
  absl::Status written = WriteShardedSafetensors(
      "out", tensors, {.max_shard_bytes = 5'000'000'000});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), 2);
  EXPECT_TRUE(written.ok()) << written;
}

}  // namespace
}  // namespace trainyard

// Files that torch.save of PyTorch 2.13 wrote, compared with the same tensors
// in safetensors files: tools/golden/pt_files.py.
#include "trainer/checkpoint/pt/pt_file.h"

#include <ATen/core/Tensor.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "trainer/checkpoint/pt/weights_file.h"
#include "trainer/checkpoint/safetensors/safetensors.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string PathOf(const std::string& name) {
  // The examples change the working folder.
  static const auto* const root =
      new std::string(std::filesystem::current_path());
  return absl::StrCat(*root, "/trainer/checkpoint/pt/testdata/", name);
}

void ExpectSameBits(const at::Tensor& read, const at::Tensor& expected,
                    const std::string& name) {
  EXPECT_EQ(read.scalar_type(), expected.scalar_type()) << name;
  ASSERT_EQ(read.sizes(), expected.sizes()) << name;
  if (expected.nbytes() == 0) return;
  const at::Tensor bytes = read.contiguous();
  EXPECT_EQ(std::memcmp(bytes.const_data_ptr(), expected.const_data_ptr(),
                        expected.nbytes()),
            0)
      << name;
}

TEST(PtFileTest, ReadsEveryBitThatPythonWrote) {
  for (const std::string name :
       {"types", "views", "model", "protocol4", "checkpoint", "no_crc32"}) {
    const auto file = ReadPtFile(
        PathOf(name + ".pt"), {.key = "", .check_crc32 = name != "no_crc32"});
    ASSERT_TRUE(file.ok()) << file.status();
    const auto expected = ReadSafetensors(PathOf(name + ".safetensors"));
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_EQ(file->tensors.size(), expected->tensors.size()) << name;
    for (size_t i = 0; i < expected->tensors.size(); ++i) {
      const NamedTensor& wanted = expected->tensors[i];
      EXPECT_EQ(file->tensors[i].name, wanted.name);
      ExpectSameBits(file->tensors[i].tensor, wanted.tensor, wanted.name);
    }
  }
}

TEST(PtFileTest, KeepsSharedMemory) {
  const auto file = ReadPtFile(PathOf("views.pt"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, tensor] : file->tensors) tensors[name] = tensor;
  EXPECT_TRUE(tensors["tied"].is_alias_of(tensors["tied_too"]));
  EXPECT_TRUE(tensors["tied"].is_alias_of(tensors["tied_transposed"]));
  EXPECT_TRUE(tensors["slice"].is_alias_of(tensors["whole"]));
  EXPECT_FALSE(tensors["tied"].is_alias_of(tensors["whole"]));
  EXPECT_FALSE(tensors["transposed"].is_contiguous());
}

TEST(PtFileTest, NothingOfTheFileIsExecuted) {
  const std::string trace = "/tmp/pt-file-was-executed";
  std::filesystem::remove(trace);
  EXPECT_FALSE(ReadPtFile(PathOf("runs_a_command.pt")).ok());
  EXPECT_FALSE(std::filesystem::exists(trace));
}

// Every third byte is changed. The damage is found, or it is in padding or in
// an unused record and changes nothing.
TEST(PtFileTest, DetectsDamage) {
  std::stringstream content;
  content << std::ifstream(PathOf("model.pt"), std::ios::binary).rdbuf();
  const std::string whole = content.str();
  const auto expected = ReadPtFile(PathOf("model.pt"));
  ASSERT_TRUE(expected.ok()) << expected.status();
  const std::string path = ::testing::TempDir() + "/damaged.pt";
  int detected = 0;
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    std::ofstream(path, std::ios::binary) << bytes;
    const auto file = ReadPtFile(path);
    if (!file.ok()) {
      ++detected;
      EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
      continue;
    }
    ASSERT_EQ(file->tensors.size(), expected->tensors.size()) << at;
    for (size_t i = 0; i < expected->tensors.size(); ++i) {
      EXPECT_EQ(file->tensors[i].name, expected->tensors[i].name) << at;
      ExpectSameBits(file->tensors[i].tensor, expected->tensors[i].tensor,
                     absl::StrCat(at));
    }
  }
  EXPECT_GT(detected, 600);
  for (size_t size = 0; size < whole.size(); size += 31) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(ReadPtFile(path).ok()) << size;
  }
}

TEST(WeightsFileTest, ReadsBothKinds) {
  const auto pt = ReadWeights(PathOf("checkpoint.pt"), {.key = "model"});
  ASSERT_TRUE(pt.ok()) << pt.status();
  const auto safetensors = ReadWeights(PathOf("model.safetensors"));
  ASSERT_TRUE(safetensors.ok()) << safetensors.status();
  ASSERT_EQ(pt->size(), safetensors->size());
  for (size_t i = 0; i < pt->size(); ++i) {
    EXPECT_EQ((*pt)[i].name, (*safetensors)[i].name);
    ExpectSameBits((*pt)[i].tensor, (*safetensors)[i].tensor, (*pt)[i].name);
  }
  const absl::Status key =
      ReadWeights(PathOf("model.safetensors"), {.key = "model"}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(key));
  EXPECT_THAT(std::string(key.message()), HasSubstr("key is \"model\""));
  EXPECT_THAT(std::string(ReadWeights(PathOf("legacy.pt")).status().message()),
              HasSubstr("before 1.6"));
}

// The examples in the headers of this folder.
class PtExamplesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"weights.pt", "checkpoint.pt"}) {
      std::filesystem::copy_file(
          PathOf("checkpoint.pt"), ::testing::TempDir() + "/" + name,
          std::filesystem::copy_options::overwrite_existing);
    }
    std::filesystem::current_path(::testing::TempDir());
  }
};

TEST_F(PtExamplesTest, PtFile) {
  absl::StatusOr<PtFile> file = ReadPtFile("weights.pt");
  absl::StatusOr<PtFile> state =
      ReadPtFile("checkpoint.pt", {.key = "optimizer"});
  std::vector<std::string> names;
  for (const NamedTensor& item : state->tensors) {
    names.push_back(item.name);
  }
  EXPECT_EQ(file->key, "model");
  EXPECT_EQ(names.at(0), "state.0.exp_avg");
  EXPECT_EQ(state->values.at("param_groups.0.lr"), "0.001");
}

TEST_F(PtExamplesTest, WeightsFile) {
  absl::StatusOr<std::vector<NamedTensor>> weights =
      ReadWeights("weights.pt", {.key = "model"});
  EXPECT_EQ(weights->size(), 9);
}

}  // namespace
}  // namespace trainyard

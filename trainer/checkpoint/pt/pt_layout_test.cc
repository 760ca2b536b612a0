// Files that torch.save of PyTorch 2.13 wrote: tools/golden/pt_files.py.
#include "trainer/checkpoint/pt/pt_layout.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "trainer/checkpoint/pt/pickle_tree.h"
#include "trainer/checkpoint/pt/pt_tensor.h"
#include "trainer/io/input_file.h"
#include "trainer/io/testing/memory_file_system.h"
#include "trainer/io/testing/zip_bytes.h"

namespace trainyard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string PathOf(const std::string& name) {
  return absl::StrCat("trainer/checkpoint/pt/testdata/", name, ".pt");
}

absl::StatusOr<PtLayout> Read(const std::string& name,
                              const PtOptions& options = {}) {
  const absl::StatusOr<InputFile> file = InputFile::Open(PathOf(name));
  if (!file.ok()) return file.status();
  return ReadPtLayout(*file, options);
}

std::string Error(const std::string& name, const PtOptions& options = {}) {
  return std::string(Read(name, options).status().message());
}

std::string Names(const PtLayout& layout) {
  std::string names;
  for (const PtTensor& tensor : layout.tensors) {
    absl::StrAppend(&names, tensor.name, " ");
  }
  return names;
}

TEST(PtLayoutTest, DescribesTensors) {
  const auto layout = Read("views");
  ASSERT_TRUE(layout.ok()) << layout.status();
  const auto slice = std::find_if(
      layout->tensors.begin(), layout->tensors.end(),
      [](const PtTensor& tensor) { return tensor.name == "slice"; });
  ASSERT_NE(slice, layout->tensors.end());
  EXPECT_EQ(slice->dtype, SafetensorsDtype::kF32);
  EXPECT_EQ(slice->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(slice->strides, (std::vector<int64_t>{6, 1}));
  EXPECT_EQ(slice->offset, 8);
  EXPECT_EQ(slice->storage_bytes, 96);
  EXPECT_EQ(PtTensorBytes(*slice), 24);
  // Seven views of one storage, three of another, and two of their own.
  EXPECT_EQ(layout->storages.size(), 4);
}

TEST(PtLayoutTest, ChoosesTheKeyOfTheModel) {
  const auto model = Read("checkpoint");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->key, "model");
  EXPECT_EQ(Names(*model),
            "0.bias 0.weight 1.bias 1.num_batches_tracked 1.running_mean "
            "1.running_var 1.weight 3.bias 3.weight ");
  EXPECT_TRUE(model->values.empty());
  const auto plain = Read("model");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->key, "");
  EXPECT_EQ(Names(*plain), Names(*model));
}

TEST(PtLayoutTest, ReadsOtherKeysAndValues) {
  const auto state = Read("checkpoint", {.key = "optimizer.state.5"});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(Names(*state), "exp_avg exp_avg_sq step ");
  const auto all = Read("checkpoint", {.key = ""});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->tensors.size(), 9 + 6 * 3);
  for (const auto& [name, text] : std::map<std::string, std::string>{
           {"epoch", "3"},
           {"best", "0.25"},
           {"name", "net"},
           {"done", "False"},
           {"note", "None"},
           {"seen", "1099511627776"},
           {"least", "-70000"},
           {"sizes.1", "3"},
           {"optimizer.param_groups.0.lr", "0.001"},
           {"optimizer.param_groups.0.betas.1", "0.999"},
           {"optimizer.param_groups.0.params.5", "5"}}) {
    EXPECT_THAT(all->values, Contains(Pair(name, text)));
  }
}

TEST(PtLayoutTest, SaysWhatIsUnderOtherKeys) {
  const absl::Status status = Read("checkpoint", {.key = "modell"}).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(status.message(),
            absl::StrCat(PathOf("checkpoint"),
                         ": has nothing under the key \"modell\"; its tensors "
                         "are under \"model\", \"optimizer\""));
}

TEST(PtLayoutTest, RefusesWhatIsNotTensorsAndValues) {
  EXPECT_THAT(Error("runs_a_command"), HasSubstr("needs \"posix.system\""));
  EXPECT_THAT(Error("whole_module"),
              HasSubstr("needs \"torch.nn.modules.linear.Linear\""));
  EXPECT_THAT(Error("sparse"),
              HasSubstr("needs \"torch._utils._rebuild_sparse_tensor\""));
  EXPECT_THAT(Error("conjugate"),
              HasSubstr("tensor \"w\" is a conjugate or negative view"));
  EXPECT_THAT(Error("legacy"), HasSubstr("before 1.6 or without zip"));
  EXPECT_THAT(Error("script"), HasSubstr("is a TorchScript archive"));
  EXPECT_THAT(Error("no_crc32"), HasSubstr("its CRC-32 is wrong"));
  for (const char* const name : {"runs_a_command", "sparse", "script"}) {
    EXPECT_THAT(Error(name), HasSubstr(PathOf(name)));
  }
}

// A pickle of one tensor "w", described by hand.
std::string Tensor(const std::string& storage, const std::string& elements,
                   const std::string& place) {
  return absl::StrCat(
      "}\x8c\x01wctorch._utils\n_rebuild_tensor_v2\n((\x8c\x07"
      "storagectorch\n",
      storage, "\n\x8c\x01",
      "0\x8c\x03"
      "cpu",
      elements, "tQ", place, "\x89)tRs.");
}

std::string TensorError(const std::string& pickle) {
  const auto tree = ParsePickle(pickle, PtGlobals());
  if (!tree.ok()) return std::string(tree.status().message());
  const auto call = TensorCall(*tree, tree->nodes[tree->root].items[1]);
  if (!call) return "no tensor";
  return std::string(ReadPtTensor(*tree, *call).status().message());
}

TEST(PtTensorTest, RefusesTensorsOutsideOfTheirStorage) {
  const auto place = [](int offset, int size, int stride) {
    return absl::StrCat("K", std::string(1, static_cast<char>(offset)), "K",
                        std::string(1, static_cast<char>(size)), "\x85", "K",
                        std::string(1, static_cast<char>(stride)), "\x85");
  };
  const std::string four = "K\x04";
  EXPECT_EQ(TensorError(Tensor("FloatStorage", four, place(1, 2, 2))), "");
  EXPECT_EQ(TensorError(Tensor("FloatStorage", four, place(4, 0, 9))), "");
  const std::string outside = "does not lie in its storage";
  EXPECT_EQ(TensorError(Tensor("FloatStorage", four, place(2, 2, 2))), outside);
  EXPECT_EQ(TensorError(Tensor("FloatStorage", four, place(4, 1, 1))), outside);
  EXPECT_EQ(TensorError(Tensor("FloatStorage", four, place(5, 0, 1))), outside);
  const std::string huge = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f";
  const std::string wide =
      absl::StrCat(std::string("K\0", 2), huge, "\x85", huge, "\x85");
  EXPECT_EQ(TensorError(Tensor("FloatStorage", four, wide)), outside);
  const std::string wrong = "is described wrongly";
  EXPECT_EQ(TensorError(Tensor("FloatStorage", huge, place(0, 1, 1))), wrong);
  EXPECT_EQ(TensorError(Tensor("float32", four, place(0, 1, 1))), wrong);
  EXPECT_EQ(TensorError(Tensor("FloatStorage", "\x8a\x01\xff", place(0, 1, 1))),
            wrong);
  EXPECT_EQ(TensorError(
                Tensor("FloatStorage", four, "\x8a\x01\xffK\x01\x85K\x01\x85")),
            wrong);
  EXPECT_EQ(TensorError(
                Tensor("FloatStorage", four, std::string("K\0K\x01\x85)", 6))),
            wrong);
}

// The examples in the headers.
uint64_t SizeOfStorages(const InputFile& file) {
  uint64_t size = 0;
  absl::StatusOr<PtLayout> layout = ReadPtLayout(file, {.key = "model"});
  for (const PtTensor& tensor : layout->tensors) {
    const ZipEntry& bytes = layout->storages.at(tensor.storage);
    size += bytes.size;
  }
  return size;
}

std::string StorageOf(const PickleTree& tree, uint32_t node) {
  const std::optional<uint32_t> call = TensorCall(tree, node);
  if (call) {
    absl::StatusOr<PtTensor> tensor = ReadPtTensor(tree, *call);
    return tensor->storage;
  }
  return "";
}

TEST(PtLayoutTest, Examples) {
  EXPECT_EQ(SizeOfStorages(*InputFile::Open(PathOf("checkpoint"))),
            (2 * 9 + 2 + 2 * 4 + 8 * 3 + 3) * 4 + 8);
  const auto tree = ParsePickle(
      Tensor("ByteStorage", "K\x04", "K\x01K\x01\x85K\x01\x85"), PtGlobals());
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(StorageOf(*tree, tree->nodes[tree->root].items[1]), "0");
}

std::string ErrorOfPickle(const std::string& pickle) {
  MemoryFileSystem files;
  files.Put("/a.pt", ZipBytes({{"a/data.pkl", pickle}, {"a/data/0", "1234"}}));
  const auto layout = ReadPtLayout(*InputFile::Open("/a.pt", files));
  return std::string(layout.status().message());
}

TEST(PtLayoutTest, BoundsItsSteps) {
  // Pairs of pairs, 60 deep: 2^60 numbers if all were visited.
  std::string pairs = "K\x01";
  for (int i = 0; i < 60; ++i) pairs += "q\x01h\x01\x86";
  EXPECT_THAT(ErrorOfPickle(pairs + "."), HasSubstr("too many values"));
  // A dictionary in itself.
  EXPECT_THAT(ErrorOfPickle("}q\x01\x8c\x01wh\x01s."),
              HasSubstr("nests them too deeply"));
  // One byte that is expanded to 2^40.
  const std::string expanded = std::string("K\0", 2) + "\x8a\x06" +
                               std::string("\0\0\0\0\0\x01", 6) + "\x85" +
                               std::string("K\0", 2) + "\x85";
  EXPECT_THAT(ErrorOfPickle(Tensor("ByteStorage", "K\x04", expanded)),
              HasSubstr("tensor \"w\" repeats its storage too often"));
}

TEST(PtLayoutTest, RefusesInconsistentFiles) {
  const std::string one = std::string("K\0", 2) + "K\x01\x85K\x01\x85";
  EXPECT_EQ(ErrorOfPickle(Tensor("ByteStorage", "K\x04", one)), "");
  EXPECT_THAT(ErrorOfPickle(Tensor("ByteStorage", "K\x05", one)),
              HasSubstr("in a storage of 5 bytes, and the file has 4"));
  EXPECT_THAT(ErrorOfPickle("}(K\x01NK\x01Nu."),
              HasSubstr("has two values named \"1\""));
  EXPECT_THAT(ErrorOfPickle("}NNs."), HasSubstr("has a key that is None"));
  EXPECT_THAT(ErrorOfPickle("NQ."), HasSubstr("is a storage, not a tensor"));
  EXPECT_THAT(ErrorOfPickle("ctorch\nfloat32\n)R."),
              HasSubstr("is neither a tensor nor a value"));
}

}  // namespace
}  // namespace trainyard

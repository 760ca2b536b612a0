// The examples of this folder's headers.
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trainer/data/datasets/concat.h"
#include "trainer/data/datasets/csv.h"
#include "trainer/data/datasets/csv_reader.h"
#include "trainer/data/datasets/map.h"
#include "trainer/data/datasets/mapped_file.h"
#include "trainer/data/datasets/mapped_samples.h"
#include "trainer/data/datasets/record_file.h"
#include "trainer/data/datasets/subset.h"
#include "trainer/data/datasets/token_file.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/data/transforms/flip.h"

namespace trainyard {
namespace {

void WriteFile(const std::string& name, const std::string& content) {
  std::filesystem::current_path(::testing::TempDir());
  std::ofstream(name, std::ios::binary) << content;
}

DatasetPtr Images(int64_t size) {
  return MakeTensorDataset(
      Example{at::ones({size, 2, 2}, at::kByte), at::arange(size)});
}

TEST(DatasetHeaderExamplesTest, Concat) {
  const DatasetPtr train_clean = Images(3), train_other = Images(4);
  const DatasetPtr all = Concat({train_clean, train_other});
  EXPECT_EQ(all->size(), 7);
}

TEST(DatasetHeaderExamplesTest, Csv) {
  WriteFile("flowers.csv",
            "length,count,species\n0.5,2,virginica\n1.5,3,setosa\n");
  const at::Tensor indices = at::tensor({1}, at::kLong);
  const DatasetPtr data =
      ReadCsv("flowers.csv",
              {.columns =
                   {
                       {"length", CsvType::kFloat},
                       {"count", CsvType::kInt},
                       {"species", CsvType::kCategory, {"setosa", "virginica"}},
                   }})
          .value();
  const at::Tensor length = data->Gather(indices).As<MapBatch>().at("length");
  EXPECT_EQ(length.item<float>(), 1.5F);
}

TEST(DatasetHeaderExamplesTest, CsvReader) {
  const std::string text = "a,b\nc,\"d,e\"\n";
  std::vector<std::string> cells;
  std::vector<std::string> used;
  const auto Use = [&](const std::vector<std::string>& row) {
    used.insert(used.end(), row.begin(), row.end());
  };
  CsvReader reader(text, ',');
  while (reader.NextRow(cells).value()) Use(cells);
  EXPECT_EQ(used, (std::vector<std::string>{"a", "b", "c", "d,e"}));
}

TEST(DatasetHeaderExamplesTest, Map) {
  const DatasetPtr data = Images(3);
  const DatasetPtr floats = MapBatches<Example>(data, [](Example e) {
    return Example{e.input.to(at::kFloat), e.target};
  });
  const DatasetPtr flipped = MapBatches<Example>(
      data,
      [](Example e, BatchRandom& random) {
        return Example{RandomFlip(e.input, {}, random), e.target};
      },
      /*seed=*/1);
  EXPECT_EQ(floats->size(), flipped->size());
}

absl::Status OpenFirst(char& out) {
  absl::StatusOr<MappedFile> file = MappedFile::Open("tokens.bin");
  if (!file.ok()) return file.status();
  const char first = file->data()[0];
  out = first;
  return absl::OkStatus();
}

TEST(DatasetHeaderExamplesTest, MappedFile) {
  WriteFile("tokens.bin", "xyz");
  char first = 0;
  EXPECT_TRUE(OpenFirst(first).ok());
  EXPECT_EQ(first, 'x');
}

TEST(DatasetHeaderExamplesTest, MappedSamples) {
  WriteFile("samples.bin", "-abcdef");
  const MappedFile file = MappedFile::Open("samples.bin").value();
  const SampleLayout layout{.first = 1, .step = 2, .bytes = 2, .count = 3};
  const at::Tensor indices = at::tensor({2, 0}, at::kLong);
  std::string used;
  const auto Use = [&](const char* start) { used.append(start, 2); };
  for (const char* start : ReadAhead(file, layout, indices)) Use(start);
  EXPECT_EQ(used, "efab");
}

TEST(DatasetHeaderExamplesTest, RecordFile) {
  WriteFile("train.bin", std::string(size_t{785} * 2, '\3'));
  const at::Tensor indices = at::tensor({1}, at::kLong);
  const DatasetPtr data =
      OpenRecordFile("train.bin", {.fields = {{"label", at::kByte, {}},
                                              {"image", at::kByte, {28, 28}}}})
          .value();
  const AnyBatch batch = data->Gather(indices);
  const at::Tensor image = batch.As<MapBatch>().at("image");
  EXPECT_EQ(image.sizes(), (at::IntArrayRef{1, 28, 28}));
}

TEST(DatasetHeaderExamplesTest, Subset) {
  const DatasetPtr data = Images(200);
  const DatasetPtr first_hundred = SubsetOf(data, at::arange(100));
  const std::vector<DatasetPtr> parts =
      RandomSplit(data, SplitSizes(data->size(), {0.9, 0.1}), /*seed=*/1);
  EXPECT_EQ(first_hundred->size(), 100);
  EXPECT_EQ(parts[1]->size(), 20);
}

TEST(DatasetHeaderExamplesTest, TokenFile) {
  WriteFile("train.bin", std::string(size_t{2} * 3000, '\1'));
  const at::Tensor indices = at::tensor({1}, at::kLong);
  const DatasetPtr data =
      OpenTokenFile("train.bin", {.type = at::kUInt16, .length = 1024}).value();
  const AnyBatch batch = data->Gather(indices);
  const at::Tensor input = batch.As<Example>().input;  // int64, N x 1024
  EXPECT_EQ(input.sizes(), (at::IntArrayRef{1, 1024}));
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/datasets/csv.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace trainyard {
namespace {

using ::testing::EndsWith;

std::string FileOf(const std::string& content) {
  const std::string path = ::testing::TempDir() + "/flowers.csv";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

CsvOptions Flowers() {
  return {.columns = {
              {"length", CsvType::kFloat},
              {"count", CsvType::kInt},
              {"species", CsvType::kCategory, {"setosa", "virginica"}},
          }};
}

constexpr char kGood[] =
    "species,note,length,count\n"
    "virginica,\"tall, blue\",1.5,-3\n"
    "setosa,,2e-1, 4\n";

TEST(CsvTest, ReadsTypedColumns) {
  const absl::StatusOr<DatasetPtr> data = ReadCsv(FileOf(kGood), Flowers());
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ((*data)->size(), 2);
  const AnyBatch batch = (*data)->Gather(at::tensor({1, 0}, at::kLong));
  const MapBatch& columns = batch.As<MapBatch>();
  EXPECT_EQ(columns.size(), 3U);
  EXPECT_TRUE(at::equal(columns.at("length"), at::tensor({0.2f, 1.5f})));
  EXPECT_TRUE(at::equal(columns.at("count"), at::tensor({4, -3}, at::kLong)));
  EXPECT_TRUE(at::equal(columns.at("species"), at::arange(2)));
}

TEST(CsvTest, IfEmptyReplacesEmptyCells) {
  CsvOptions options{.columns = {{.name = "a", .if_empty = -1}}};
  EXPECT_TRUE(at::equal(
      ReadCsvColumns(FileOf("a,b\n1,\n,2\n"), options).value().at("a"),
      at::tensor({1.0f, -1.0f})));
}

std::string ErrorOf(const std::string& content) {
  return std::string(ReadCsv(FileOf(content), Flowers()).status().message());
}

TEST(CsvTest, BadCellErrorNamesLineAndColumn) {
  const std::string head = "species,length,count\n";
  EXPECT_THAT(ErrorOf(head + "setosa,1,2\nsetosa,1.x,2\n"),
              EndsWith("flowers.csv: line 3: column length: '1.x' is not a "
                       "number"));
  EXPECT_THAT(ErrorOf(head + "setosa,1,2.5\n"),
              EndsWith("line 2: column count: '2.5' is not a whole number"));
  EXPECT_THAT(ErrorOf(head + "rose,1,2\n"),
              EndsWith("line 2: column species: 'rose' is not one of setosa, "
                       "virginica"));
  EXPECT_THAT(ErrorOf(head + "setosa,,2\n"),
              EndsWith("line 2: column length: '' is not a number"));
  EXPECT_THAT(ErrorOf(head + "setosa,1\n"),
              EndsWith("line 2: there are 2 cells, but the header line has 3"));
  EXPECT_THAT(ErrorOf(head + "\"setosa,1,2\n"),
              EndsWith("line 2: a quote is not closed"));
  EXPECT_THAT(ErrorOf("species,length\nsetosa,1\n"),
              EndsWith("line 1: there is no column count; there are species, "
                       "length"));
  EXPECT_THAT(ErrorOf(head), EndsWith("there are no rows"));
  EXPECT_THAT(ErrorOf(""), EndsWith("there are no rows"));
}

TEST(CsvTest, RejectsBadOptions) {
  const std::string path = FileOf(kGood);
  const auto read = [&](CsvOptions options) { (void)ReadCsv(path, options); };
  EXPECT_THROW(read({}), c10::ValueError);
  EXPECT_THROW(read({.columns = {{.name = "length"}, {.name = "length"}}}),
               c10::ValueError);
  EXPECT_THROW(
      read({.columns = {{.name = "species", .type = CsvType::kCategory}}}),
      c10::ValueError);
  EXPECT_EQ(ReadCsv("/nowhere", Flowers()).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainyard

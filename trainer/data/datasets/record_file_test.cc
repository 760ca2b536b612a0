#include "trainer/data/datasets/record_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <absl/status/status.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

RecordFileOptions Layout(int64_t header = 0) {
  return {.fields = {{"id", at::kInt, {}}, {"pair", at::kShort, {2}}},
          .header_bytes = header};
}

// Records i, {10 i, 10 i + 1}, after a header.
std::string Records(int count, const std::string& header = "",
                    const std::string& tail = "") {
  std::string content = header;
  for (int32_t i = 0; i < count; ++i) {
    const int16_t pair[] = {static_cast<int16_t>(10 * i),
                            static_cast<int16_t>(10 * i + 1)};
    content.append(reinterpret_cast<const char*>(&i), sizeof(i));
    content.append(reinterpret_cast<const char*>(pair), sizeof(pair));
  }
  const std::string path = ::testing::TempDir() + "/records";
  std::ofstream(path, std::ios::binary) << content << tail;
  return path;
}

TEST(RecordFileTest, ReadsRecordsByIndex) {
  for (const std::string header : {"", "seven b"}) {
    const absl::StatusOr<DatasetPtr> data = OpenRecordFile(
        Records(5, header), Layout(static_cast<int64_t>(header.size())));
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ((*data)->size(), 5);
    const AnyBatch batch = (*data)->Gather(at::tensor({4, 0, 4}, at::kLong));
    EXPECT_EQ(batch.size(), 3);
    EXPECT_TRUE(at::equal(batch.As<MapBatch>().at("id"),
                          at::tensor({4, 0, 4}, at::kInt)));
    EXPECT_TRUE(
        at::equal(batch.As<MapBatch>().at("pair"),
                  at::tensor({40, 41, 0, 1, 40, 41}, at::kShort).view({3, 2})));
    EXPECT_THROW((*data)->Gather(at::arange(6)), c10::IndexError);
  }
}

TEST(RecordFileTest, WrongLengthErrorNamesTheFile) {
  const auto error = [](const std::string& path, int64_t header = 0) {
    return OpenRecordFile(path, Layout(header)).status();
  };
  const absl::Status cut = error(Records(3, "", "abc"));
  EXPECT_EQ(cut.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(cut.message()),
              HasSubstr("records: holds 27 bytes of records, which is not a "
                        "multiple of the 8 bytes of a record"));
  EXPECT_EQ(error(Records(0)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(error(Records(1), 8).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(error(Records(1), 9).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(error("/nowhere").code(), absl::StatusCode::kNotFound);
}

TEST(RecordFileTest, RejectsBadOptions) {
  const std::string path = Records(2);
  const auto open = [&](const RecordFileOptions& options) {
    (void)OpenRecordFile(path, options);
  };
  EXPECT_THROW(open({}), c10::ValueError);
  EXPECT_THROW(open(Layout(-1)), c10::ValueError);
  EXPECT_THROW(open({.fields = {{"a", at::kInt, {0}}}}), c10::ValueError);
  EXPECT_THROW(open({.fields = {{"a", at::kInt, {}}, {"a", at::kInt, {}}}}),
               c10::ValueError);
}

}  // namespace
}  // namespace trainyard

#include "trainer/data/datasets/record_file.h"

#include <ATen/ops/empty.h>
#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/data/datasets/mapped_file.h"
#include "trainer/data/datasets/mapped_samples.h"

namespace trainyard {
namespace {

struct Column {
  RecordField field;
  size_t offset = 0;
  size_t bytes = 0;
};

std::vector<Column> Columns(const RecordFileOptions& options) {
  TORCH_CHECK_VALUE(
      !options.fields.empty(),
      "OpenRecordFile: fields is empty; a record needs at least one");
  TORCH_CHECK_VALUE(options.header_bytes >= 0,
                    "OpenRecordFile: header_bytes is ", options.header_bytes,
                    "; it must be at least 0");
  std::vector<Column> columns;
  size_t offset = 0;
  for (const RecordField& field : options.fields) {
    size_t bytes = c10::elementSize(field.type);
    for (const int64_t size : field.shape) {
      TORCH_CHECK_VALUE(size > 0 && size < int64_t{1} << 31,
                        "OpenRecordFile: field ", field.name, " has a size of ",
                        size, "; sizes must be above 0 and below 2^31");
      bytes *= static_cast<size_t>(size);
      TORCH_CHECK_VALUE(bytes < size_t{1} << 40, "OpenRecordFile: field ",
                        field.name, " has ", bytes,
                        " bytes; the limit is 2^40");
    }
    for (const Column& other : columns) {
      TORCH_CHECK_VALUE(other.field.name != field.name,
                        "OpenRecordFile: two fields are named ", field.name);
    }
    columns.push_back({field, offset, bytes});
    offset += bytes;
  }
  return columns;
}

class RecordFile final : public Dataset {
 public:
  RecordFile(MappedFile file, std::vector<Column> columns, size_t header,
             size_t record)
      : file_(std::move(file)),
        columns_(std::move(columns)),
        header_(header),
        record_(record),
        size_(static_cast<int64_t>((file_.size() - header) / record)) {
    file_.ExpectRandomReads();
  }

  int64_t size() const override { return size_; }

  AnyBatch Gather(const at::Tensor& indices) const override {
    const std::vector<const char*> starts = ReadAhead(
        file_,
        {.first = header_, .step = record_, .bytes = record_, .count = size_},
        indices);
    MapBatch batch;
    for (const Column& column : columns_) {
      std::vector<int64_t> shape = {std::ssize(starts)};
      shape.insert(shape.end(), column.field.shape.begin(),
                   column.field.shape.end());
      at::Tensor values = at::empty(shape, column.field.type);
      char* to = static_cast<char*>(values.data_ptr());
      for (const char* start : starts) {
        std::memcpy(to, start + column.offset, column.bytes);
        to += column.bytes;
      }
      batch.emplace(column.field.name, std::move(values));
    }
    return AnyBatch(std::move(batch));
  }

 private:
  MappedFile file_;
  std::vector<Column> columns_;
  size_t header_, record_;
  int64_t size_;
};

}  // namespace

absl::StatusOr<DatasetPtr> OpenRecordFile(const std::string& path,
                                          const RecordFileOptions& options) {
  std::vector<Column> columns = Columns(options);
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const auto header = static_cast<size_t>(options.header_bytes);
  const size_t record = columns.back().offset + columns.back().bytes;
  if (file->size() <= header) {
    return absl::DataLossError(
        absl::StrCat(path, ": has no records: it is ", file->size(),
                     " bytes long, of which ", header, " are its header"));
  }
  if ((file->size() - header) % record != 0) {
    return absl::DataLossError(absl::StrCat(
        path, ": holds ", file->size() - header,
        " bytes of records, which is not a multiple of the ", record,
        " bytes of a record: the file is truncated or has another layout"));
  }
  return std::make_shared<const RecordFile>(*std::move(file),
                                            std::move(columns), header, record);
}

}  // namespace trainyard

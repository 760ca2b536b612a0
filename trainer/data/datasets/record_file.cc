#include "trainer/data/datasets/record_file.h"

#include <ATen/ops/empty.h>
#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <memory>
#include <utility>

#include "trainer/data/datasets/mapped_file.h"

namespace trainyard {
namespace {

struct Column {
  RecordField field;
  size_t offset = 0;
  size_t bytes = 0;
};

std::vector<Column> Columns(const RecordFileOptions& options) {
  TORCH_CHECK_VALUE(!options.fields.empty(),
                    "OpenRecordFile: a record has no fields");
  TORCH_CHECK_VALUE(options.header_bytes >= 0,
                    "OpenRecordFile: header_bytes is ", options.header_bytes);
  std::vector<Column> columns;
  size_t offset = 0;
  for (const RecordField& field : options.fields) {
    size_t bytes = c10::elementSize(field.type);
    for (const int64_t size : field.shape) {
      TORCH_CHECK_VALUE(size > 0 && size < int64_t{1} << 31,
                        "OpenRecordFile: field ", field.name, " has a size of ",
                        size);
      bytes *= static_cast<size_t>(size);
      TORCH_CHECK_VALUE(bytes < size_t{1} << 40, "OpenRecordFile: field ",
                        field.name, " is too large");
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
    const at::Tensor contiguous = indices.contiguous();
    const int64_t* const index = contiguous.const_data_ptr<int64_t>();
    const int64_t rows = contiguous.numel();
    // All reads of the batch are under way before the first is waited for.
    for (int64_t row = 0; row < rows; ++row) {
      TORCH_CHECK_INDEX(index[row] >= 0 && index[row] < size_, file_.path(),
                        ": record ", index[row], " of ", size_);
      file_.ReadAhead(Offset(index[row]), record_);
    }
    MapBatch batch;
    for (const Column& column : columns_) {
      std::vector<int64_t> shape = {rows};
      shape.insert(shape.end(), column.field.shape.begin(),
                   column.field.shape.end());
      at::Tensor values = at::empty(shape, column.field.type);
      char* to = static_cast<char*>(values.data_ptr());
      for (int64_t row = 0; row < rows; ++row, to += column.bytes) {
        std::memcpy(to, file_.data() + Offset(index[row]) + column.offset,
                    column.bytes);
      }
      batch.emplace(column.field.name, std::move(values));
    }
    return AnyBatch(std::move(batch));
  }

 private:
  size_t Offset(int64_t index) const {
    return header_ + static_cast<size_t>(index) * record_;
  }

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
        " bytes of records, which is no whole number of records of ", record,
        " bytes: it is cut short or of another layout"));
  }
  return std::make_shared<const RecordFile>(*std::move(file),
                                            std::move(columns), header, record);
}

}  // namespace trainyard

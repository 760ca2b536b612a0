#include "trainer/data/datasets/csv.h"

#include <ATen/ops/tensor.h>
#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>

#include "trainer/data/datasets/csv_reader.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/io/gzip_file.h"

namespace trainyard {
namespace {

void CheckOptions(const CsvOptions& options) {
  TORCH_CHECK_VALUE(!options.columns.empty(), "ReadCsv: columns is empty");
  for (size_t i = 0; i < options.columns.size(); ++i) {
    const CsvColumn& column = options.columns[i];
    TORCH_CHECK_VALUE(
        column.type != CsvType::kCategory || !column.categories.empty(),
        "ReadCsv: column ", column.name, " has no categories");
    for (size_t k = 0; k < i; ++k) {
      TORCH_CHECK_VALUE(options.columns[k].name != column.name,
                        "ReadCsv: column ", column.name, " is listed twice");
    }
  }
}

// Collects the values of one column.
class Values {
 public:
  Values(const CsvColumn& column, size_t position)
      : column_(column), position_(position) {}

  const CsvColumn& column() const { return column_; }
  size_t position() const { return position_; }

  // Whether the cell fits the type.
  bool Add(const std::string& cell) {
    const absl::string_view text =
        absl::StripAsciiWhitespace(absl::string_view(cell));
    if (text.empty() && column_.if_empty) {
      floats_.push_back(static_cast<float>(*column_.if_empty));
      ints_.push_back(static_cast<int64_t>(*column_.if_empty));
      return true;
    }
    switch (column_.type) {
      case CsvType::kFloat:
        return absl::SimpleAtof(text, &floats_.emplace_back());
      case CsvType::kInt:
        return absl::SimpleAtoi(text, &ints_.emplace_back());
      case CsvType::kCategory: {
        const auto found = std::ranges::find(column_.categories, cell);
        ints_.push_back(found - column_.categories.begin());
        return found != column_.categories.end();
      }
    }
    return false;
  }

  at::Tensor Tensor() const {
    return column_.type == CsvType::kFloat ? at::tensor(floats_)
                                           : at::tensor(ints_);
  }

  std::string Wanted() const {
    switch (column_.type) {
      case CsvType::kFloat:
        return "a number";
      case CsvType::kInt:
        return "a whole number";
      default:
        return absl::StrCat("one of ", absl::StrJoin(column_.categories, ", "));
    }
  }

 private:
  const CsvColumn& column_;
  size_t position_;
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
};

absl::Status Wrong(const std::string& path, int64_t line,
                   const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": line ", line, ": ", what));
}

absl::StatusOr<std::vector<Values>> FindColumns(
    const std::string& path, const std::vector<std::string>& head,
    const CsvOptions& options) {
  std::vector<Values> values;
  for (const CsvColumn& column : options.columns) {
    const auto found = std::ranges::find(head, column.name);
    if (found == head.end()) {
      return Wrong(path, 1,
                   absl::StrCat("there is no column ", column.name,
                                "; there are ", absl::StrJoin(head, ", ")));
    }
    values.emplace_back(column, static_cast<size_t>(found - head.begin()));
  }
  return values;
}

}  // namespace

absl::StatusOr<MapBatch> ReadCsvColumns(const std::string& path,
                                        const CsvOptions& options) {
  CheckOptions(options);
  const absl::StatusOr<std::string> text = ReadMaybeGzipFile(path);
  if (!text.ok()) return text.status();
  CsvReader reader(*text, options.separator);
  std::vector<std::string> head, cells;
  int64_t rows = -1;  // the header does not count
  std::vector<Values> values;
  while (true) {
    const absl::StatusOr<bool> more = reader.NextRow(rows < 0 ? head : cells);
    if (!more.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", more.status().message()));
    }
    if (!*more) break;
    if (++rows == 0) {
      absl::StatusOr<std::vector<Values>> found =
          FindColumns(path, head, options);
      if (!found.ok()) return found.status();
      values = *std::move(found);
      continue;
    }
    if (cells.size() != head.size()) {
      return Wrong(path, reader.line(),
                   absl::StrCat("there are ", cells.size(), " cells, but the ",
                                "header line has ", head.size()));
    }
    for (Values& column : values) {
      const std::string& cell = cells[column.position()];
      if (!column.Add(cell)) {
        return Wrong(path, reader.line(),
                     absl::StrCat("column ", column.column().name, ": '", cell,
                                  "' is not ", column.Wanted()));
      }
    }
  }
  if (rows <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": there are no rows"));
  }
  MapBatch tensors;
  for (const Values& column : values)
    tensors.emplace(column.column().name, column.Tensor());
  return tensors;
}

absl::StatusOr<DatasetPtr> ReadCsv(const std::string& path,
                                   const CsvOptions& options) {
  absl::StatusOr<MapBatch> columns = ReadCsvColumns(path, options);
  if (!columns.ok()) return columns.status();
  return MakeTensorDataset(*std::move(columns));
}

}  // namespace trainyard

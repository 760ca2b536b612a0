// Reads a CSV file with a header line into memory, as one tensor per selected
// column. Batches map the name of a column to its values.
//
//   const DatasetPtr data = ReadCsv("flowers.csv", {.columns = {
//       {"length", CsvType::kFloat},
//       {"count", CsvType::kInt},
//       {"species", CsvType::kCategory, {"setosa", "virginica"}},
//   }}).value();
//   const at::Tensor length =
//       data->Gather(indices).As<MapBatch>().at("length");
//
// A cell of the wrong type is an error with its line and column. Reads gzip
// files, too.
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_CSV_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_CSV_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/map_batch.h"

namespace trainyard {

enum class CsvType {
  kFloat,     // float32
  kInt,       // int64
  kCategory,  // int64: the position of the cell's text among the categories
};

struct CsvColumn {
  // As in the header line.
  std::string name;
  CsvType type = CsvType::kFloat;
  // For kCategory: every text that occurs. REQUIRES: not empty for kCategory.
  std::vector<std::string> categories = {};
  // The value of an empty cell. Unset: an empty cell is an error.
  std::optional<double> if_empty = std::nullopt;
};

struct CsvOptions {
  // The columns to read, in any order; others are ignored. REQUIRES: at least
  // one, with different names.
  std::vector<CsvColumn> columns;
  char separator = ',';
};

// Returns the columns as tensors with one value per row.
absl::StatusOr<MapBatch> ReadCsvColumns(const std::string& path,
                                        const CsvOptions& options);

// The same as a dataset.
absl::StatusOr<DatasetPtr> ReadCsv(const std::string& path,
                                   const CsvOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_CSV_H_

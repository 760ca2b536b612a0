// A CSV file with a head line, read whole into memory as one tensor per column
// of interest. Batches are maps from a column's name to its values.
//
//   const DatasetPtr data = ReadCsv("flowers.csv", {.columns = {
//       {"length", CsvType::kFloat},
//       {"count", CsvType::kInt},
//       {"species", CsvType::kCategory, {"setosa", "virginica"}},
//   }}).value();
//   const at::Tensor length =
//   data->Gather(indices).As<MapBatch>().at("length");
//
// A cell that does not fit is an error with its line and column. gzip files are
// unpacked.
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
  // As in the head line.
  std::string name;
  CsvType type = CsvType::kFloat;
  // For kCategory; every text that occurs. REQUIRES: not empty there.
  std::vector<std::string> categories = {};
  // What stands for an empty cell; without it, one is an error.
  std::optional<double> if_empty = std::nullopt;
};

struct CsvOptions {
  // Those to read, in any order; others are passed over. REQUIRES: at least
  // one; each name once.
  std::vector<CsvColumn> columns;
  char separator = ',';
};

// The columns as tensors of one value per row.
absl::StatusOr<MapBatch> ReadCsvColumns(const std::string& path,
                                        const CsvOptions& options);

// The same as a dataset.
absl::StatusOr<DatasetPtr> ReadCsv(const std::string& path,
                                   const CsvOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_CSV_H_

// OpenRecordFile maps a binary file of records with one fixed layout. The file
// may be larger than memory; any record is read without those before it.
// Batches map the name of a field to its tensor.
//
//   // Images of 28 x 28 bytes, each after its label.
//   const DatasetPtr data = OpenRecordFile(
//       "train.bin", {.fields = {{"label", at::kByte, {}},
//                                {"image", at::kByte, {28, 28}}}}).value();
//   const AnyBatch batch = data->Gather(indices);
//   const at::Tensor image = batch.As<MapBatch>().at("image");
//
// Values are in the byte order of the machine (little-endian).
//
// Thread-safe. The file must not change while it is open.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_RECORD_FILE_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_RECORD_FILE_H_

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/map_batch.h"

namespace trainyard {

struct RecordField {
  // Key in the batch. REQUIRES: unique.
  std::string name;
  at::ScalarType type = at::kFloat;
  // Shape in one record; empty for a single value. REQUIRES: sizes above 0.
  std::vector<int64_t> shape;
};

struct RecordFileOptions {
  // The fields of a record in order, without gaps. REQUIRES: at least one.
  std::vector<RecordField> fields;
  // Bytes before the first record. REQUIRES: >= 0.
  int64_t header_bytes = 0;
};

// The error names the file: NotFound if it does not exist, DataLoss if it is
// empty or its length is not a multiple of the record length.
absl::StatusOr<DatasetPtr> OpenRecordFile(const std::string& path,
                                          const RecordFileOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_RECORD_FILE_H_

// A binary file of records that all have the same layout, mapped into memory:
// it may be far larger than the machine's memory, and any sample is had without
// reading those before it. Batches are maps from a field's name to its tensor.
//
//   // Images of 28 x 28 bytes, each after its label.
//   const DatasetPtr data = OpenRecordFile(
//       "train.bin", {.fields = {{"label", at::kByte, {}},
//                                {"image", at::kByte, {28, 28}}}}).value();
//   const MapBatch& batch = data->Gather(indices).As<MapBatch>();
//
// Values are in the machine's own byte order (little-endian).
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
  // Key in the batch. REQUIRES: each once.
  std::string name;
  at::ScalarType type = at::kFloat;
  // Of one record; empty for a single value. REQUIRES: sizes above 0.
  std::vector<int64_t> shape;
};

struct RecordFileOptions {
  // What a record consists of, one after the other, without gaps. REQUIRES: at
  // least one.
  std::vector<RecordField> fields;
  // Bytes before the first record. REQUIRES: >= 0.
  int64_t header_bytes = 0;
};

// The error names the file: not there (NotFound), empty, or of a length that is
// no whole number of records (DataLoss).
absl::StatusOr<DatasetPtr> OpenRecordFile(const std::string& path,
                                          const RecordFileOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_RECORD_FILE_H_

// ReadAhead finds the samples of a batch in a mapped file and starts to read
// all of them before the first is used. For datasets over mapped files.
//
//   for (const char* start : ReadAhead(file, layout, indices)) Use(start);
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_SAMPLES_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_SAMPLES_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/data/datasets/mapped_file.h"

namespace trainyard {

// Where the samples of a file are, in bytes.
struct SampleLayout {
  // Start of sample 0.
  size_t first = 0;
  // From the start of one sample to the start of the next.
  size_t step = 1;
  // Length of a sample.
  size_t bytes = 1;
  // Number of samples.
  int64_t count = 0;
};

// Returns where each sample starts. `indices` is a 1-dimensional int64 tensor
// on the CPU. Throws c10::IndexError with the file's name for an index that is
// not below `count`.
std::vector<const char*> ReadAhead(const MappedFile& file,
                                   const SampleLayout& layout,
                                   const at::Tensor& indices);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_MAPPED_SAMPLES_H_

// Normalize converts images of bytes to floats with mean 0 and deviation 1, a
// batch at a time, in one pass over the memory.
//
//   const Normalize normalize({.mean = {0.1307}, .deviation = {0.3081}});
//   const at::Tensor floats = normalize(bytes);   // N x 28 x 28
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_TRANSFORMS_NORMALIZE_H_
#define TRAINYARD_TRAINER_DATA_TRANSFORMS_NORMALIZE_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainyard {

struct NormalizeOptions {
  // Per channel, or one for all channels, in units of max_value. REQUIRES: as
  // many means as deviations; deviations above 0.
  std::vector<double> mean = {0.0};
  std::vector<double> deviation = {1.0};
  // The pixel value that counts as 1. REQUIRES: > 0.
  double max_value = 255.0;
};

class Normalize {
 public:
  explicit Normalize(const NormalizeOptions& options);

  // (pixel / max_value - mean) / deviation, as float32. With several channels,
  // `images` is N x C x H x W; with one, of any shape.
  at::Tensor operator()(const at::Tensor& images) const;

 private:
  at::Tensor Bytes(const at::Tensor& images) const;

  // pixel * scale + shift, per channel.
  std::vector<float> scale_, shift_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_TRANSFORMS_NORMALIZE_H_

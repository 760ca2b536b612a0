// Sampler is the order of the samples in an epoch, a pure function of the
// epoch's number: any process can compute it at any time, without the epochs
// before.
//
//   ShuffledSampler sampler(60000, /*seed=*/1);
//   const at::Tensor order = sampler.Order(/*epoch=*/3);
//
// Thread-safe: const.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLER_H_
#define TRAINYARD_TRAINER_DATA_SAMPLER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace trainyard {

class Sampler {
 public:
  virtual ~Sampler() = default;

  // Samples in an epoch.
  virtual int64_t size() const = 0;

  // The sample indices of the epoch in order: 1-dimensional, int64, on the CPU.
  virtual at::Tensor Order(int64_t epoch) const = 0;
};

// 0, 1, 2, …
class SequentialSampler final : public Sampler {
 public:
  // REQUIRES: size >= 1.
  explicit SequentialSampler(int64_t size);
  int64_t size() const override { return size_; }
  at::Tensor Order(int64_t epoch) const override;

 private:
  int64_t size_;
};

// Another random order in each epoch, from a generator of its own: the global
// generator is not used.
class ShuffledSampler final : public Sampler {
 public:
  // REQUIRES: size >= 1.
  ShuffledSampler(int64_t size, uint64_t seed);
  int64_t size() const override { return size_; }
  at::Tensor Order(int64_t epoch) const override;

 private:
  int64_t size_;
  uint64_t seed_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLER_H_

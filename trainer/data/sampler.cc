#include "trainer/data/sampler.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randperm.h>
#include <c10/util/Exception.h>

namespace trainyard {
namespace {

// One well-mixed seed from two small numbers (the finaliser of splitmix64), so
// that seed 1, epoch 0 and seed 0, epoch 1 have nothing in common.
uint64_t Mix(uint64_t seed, uint64_t epoch) {
  uint64_t z = seed + (epoch + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

SequentialSampler::SequentialSampler(int64_t size) : size_(size) {
  TORCH_CHECK_VALUE(size >= 1, "SequentialSampler: size is ", size,
                    "; there must be a sample");
}

at::Tensor SequentialSampler::Order(int64_t) const {
  return at::arange(size_, at::kLong);
}

ShuffledSampler::ShuffledSampler(int64_t size, uint64_t seed)
    : size_(size), seed_(seed) {
  TORCH_CHECK_VALUE(size >= 1, "ShuffledSampler: size is ", size,
                    "; there must be a sample");
}

at::Tensor ShuffledSampler::Order(int64_t epoch) const {
  const at::Generator generator =
      at::detail::createCPUGenerator(Mix(seed_, static_cast<uint64_t>(epoch)));
  return at::randperm(size_, generator, at::kLong);
}

}  // namespace trainyard

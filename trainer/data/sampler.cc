#include "trainer/data/sampler.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randperm.h>
#include <c10/util/Exception.h>

#include "trainer/data/sample_random.h"

namespace trainyard {
SequentialSampler::SequentialSampler(int64_t size) : size_(size) {
  TORCH_CHECK_VALUE(size >= 1, "SequentialSampler: size is ", size,
                    "; it must be at least 1");
}

at::Tensor SequentialSampler::Order(int64_t) const {
  return at::arange(size_, at::kLong);
}

ShuffledSampler::ShuffledSampler(int64_t size, uint64_t seed)
    : size_(size), seed_(seed) {
  TORCH_CHECK_VALUE(size >= 1, "ShuffledSampler: size is ", size,
                    "; it must be at least 1");
}

at::Tensor ShuffledSampler::Order(int64_t epoch) const {
  const at::Generator generator =
      at::detail::createCPUGenerator(EpochKey(seed_, epoch));
  return at::randperm(size_, generator, at::kLong);
}

}  // namespace trainyard

#include "trainer/data/samplers/weighted.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/searchsorted.h>
#include <c10/util/Exception.h>

#include "trainer/data/sample_random.h"

namespace trainyard {

WeightedSampler::WeightedSampler(const at::Tensor& weights,
                                 const WeightedSamplerOptions& options)
    : options_(options) {
  TORCH_CHECK_VALUE(weights.defined() && weights.dim() == 1,
                    "WeightedSampler: weights must be a 1-dimensional tensor");
  num_samples_ = options.num_samples.value_or(weights.size(0));
  TORCH_CHECK_VALUE(num_samples_ >= 1, "WeightedSampler: num_samples is ",
                    num_samples_, "; it must be at least 1");
  const at::Tensor all = weights.to(at::kCPU, at::kDouble).contiguous();
  TORCH_CHECK_VALUE(
      at::isfinite(all).all().item<bool>() && all.ge(0).all().item<bool>(),
      "WeightedSampler: a weight is negative or not finite");
  indices_ = all.nonzero().squeeze(1);
  weights_ = all.index_select(0, indices_);
  TORCH_CHECK_VALUE(indices_.size(0) > 0,
                    "WeightedSampler: no weight is above 0");
  sums_ = weights_.cumsum(0);
  TORCH_CHECK_VALUE(options_.replacement || num_samples_ <= indices_.size(0),
                    "WeightedSampler: without replacement, num_samples is ",
                    num_samples_, ", but only ", indices_.size(0),
                    " weights are above 0");
}

at::Tensor WeightedSampler::Order(int64_t epoch) const {
  const at::Generator generator =
      at::detail::createCPUGenerator(EpochKey(options_.seed, epoch));
  const int64_t candidates = indices_.size(0);
  if (options_.replacement) {
    const at::Tensor points = at::rand({num_samples_}, generator, at::kDouble)
                                  .mul_(sums_[candidates - 1]);
    // Rounding may put a point at the very end.
    const at::Tensor found =
        at::searchsorted(sums_, points, /*out_int32=*/false,
                         /*right=*/true)
            .clamp_max_(candidates - 1);
    return indices_.index_select(0, found);
  }
  // Exponential variables with the weights as rates: the smallest is a weighted
  // choice, the next smallest a weighted choice among the others.
  const at::Tensor times = at::rand({candidates}, generator, at::kDouble)
                               .neg_()
                               .log1p_()
                               .neg_()
                               .div_(weights_);
  const at::Tensor order = times.argsort(/*stable=*/true);
  return indices_.index_select(0, order.narrow(0, 0, num_samples_));
}

}  // namespace trainyard

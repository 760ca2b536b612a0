#include "backends/largest_weight.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/scalar_tensor.h>

namespace trainyard {

double LargestWeight::Of(double weight, Collectives& collectives) {
  if (!value_) {
    at::Tensor largest = at::scalar_tensor(weight, at::kDouble);
    collectives.AllReduce(largest, ReduceOp::kMax);
    if (largest.item<double>() == 0) return 0;
    value_ = largest.item<double>();
  }
  return *value_;
}

void LargestWeight::Save(State& state) const {
  state.Set("reference_weight", value_.value_or(0));
}

void LargestWeight::Load(const State& state) {
  const double value = state.Get<double>("reference_weight");
  value_ = value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace trainyard

#include "backends/weight_sum.h"

#include <ATen/ops/full.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace trainyard {

WeightSum::WeightSum(ProcessGroup& group) : group_(group) {}

WeightSum::~WeightSum() = default;

void WeightSum::Start(double weight) {
  Mean();  // one at a time
  sum_ = {at::full({1}, weight, at::kDouble)};
  group_.Guard("the sum of weights",
               [&] { work_ = group_.training()->allreduce(sum_); });
}

double WeightSum::Mean() {
  if (work_) {
    group_.Guard("the sum of weights", [&] { work_->wait(); });
    work_.reset();
    mean_ = sum_[0].item<double>() /
            static_cast<double>(group_.rendezvous().world_size);
  }
  return mean_;
}

}  // namespace trainyard

#include "tracking/metrics.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

namespace trainyard {

MetricMeans::Mean& MetricMeans::Find(std::string_view name) {
  if (next_ >= means_.size()) next_ = 0;
  for (size_t tried = 0; tried < means_.size(); ++tried) {
    Mean& mean = means_[next_];
    next_ = (next_ + 1) % means_.size();
    if (mean.name == name) return mean;
  }
  means_.push_back({.name = std::string(name)});
  next_ = 0;
  return means_.back();
}

void MetricMeans::Add(std::string_view name, const at::Tensor& value,
                      double weight) {
  TORCH_CHECK_VALUE(value.defined() && value.numel() == 1, "metric \"", name,
                    "\" is not a scalar but ",
                    value.defined() ? c10::str("of shape ", value.sizes())
                                    : std::string("undefined"));
  TORCH_CHECK_VALUE(weight > 0, "metric \"", name, "\": its weight is ", weight,
                    "; it must be above 0");
  Mean& mean = Find(name);
  mean.weight += weight;
  if (value.is_cpu()) {
    mean.sum += value.item<double>() * weight;
    return;
  }
  const at::NoGradGuard no_gradients;
  if (!mean.device_sum.defined())
    mean.device_sum = at::zeros({}, value.options().dtype(at::kDouble));
  mean.device_sum.add_(value.detach().reshape({}), weight);
}

std::map<std::string, double> MetricMeans::Read() const {
  std::map<std::string, double> means;
  for (const Mean& mean : means_) {
    const double device_sum =
        mean.device_sum.defined() ? mean.device_sum.item<double>() : 0;
    means[mean.name] = (mean.sum + device_sum) / mean.weight;
  }
  return means;
}

}  // namespace trainyard

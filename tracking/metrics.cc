#include "tracking/metrics.h"

#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <utility>

#include "trainer/scalar_value.h"

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
    mean.sum += ScalarValue(value) * weight;
    return;
  }
  mean.device_sum.Add(value, weight);
}

std::map<std::string, double> MetricMeans::Read() const {
  std::map<std::string, double> means;
  for (const Mean& mean : means_) means[mean.name] = SumOf(mean) / mean.weight;
  return means;
}

void MetricMeans::Forget() {
  for (Mean& mean : means_) mean = {.name = mean.name};
}

double MetricMeans::SumOf(const Mean& mean) {
  return mean.sum + mean.device_sum.Read();
}

std::vector<double> MetricMeans::AllSums(Backend& backend) const {
  std::vector<double> sums;
  for (const Mean& mean : means_) {
    sums.insert(sums.end(), {SumOf(mean), mean.weight});
  }
  if (backend.num_processes() == 1) return sums;
  at::Tensor all = at::tensor(sums, at::kDouble).to(backend.device());
  backend.collectives().AllReduce(all, ReduceOp::kSum);
  all = all.cpu();
  const double* data = all.const_data_ptr<double>();
  return {data, data + sums.size()};
}

std::map<std::string, double> MetricMeans::Read(Backend& backend) const {
  const std::vector<double> sums = AllSums(backend);
  std::map<std::string, double> means;
  for (size_t i = 0; i < means_.size(); ++i) {
    means[means_[i].name] = sums[2 * i] / sums[2 * i + 1];
  }
  return means;
}

State MetricMeans::SaveState(Backend& backend) const {
  const std::vector<double> sums = AllSums(backend);
  State state;
  for (size_t i = 0; i < means_.size(); ++i) {
    state.Set(means_[i].name,
              std::vector<double>{sums[2 * i], sums[2 * i + 1]});
  }
  return state;
}

State MetricMeans::SaveState() const {
  State state;
  for (const Mean& mean : means_) {
    state.Set(mean.name, std::vector<double>{SumOf(mean), mean.weight});
  }
  return state;
}

void MetricMeans::LoadState(const State& state) {
  state.CheckVersion(1);
  std::vector<Mean> means;
  for (const auto& [name, value] : state.values()) {
    const auto& sums = state.Get<std::vector<double>>(name);
    TORCH_CHECK_VALUE(sums.size() == 2, "state of metric \"", name, "\" has ",
                      sums.size(), " numbers, not 2");
    means.push_back({.name = name, .sum = sums[0], .weight = sums[1]});
  }
  means_ = std::move(means);
  next_ = 0;
}

}  // namespace trainyard

#include "tracking/metrics.h"

#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>

#include <memory>
#include <utility>
#include <variant>

#include "trainer/scalar_value.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

// Numbers of the CPU are saved as such. Reading others would wait for the
// device.
void SetPair(State& state, const std::string& name, const at::Tensor& pair) {
  if (!pair.is_cpu()) return SetTensor(state, name, pair);
  const double* const numbers = pair.const_data_ptr<double>();
  state.Set(name, std::vector<double>(numbers, numbers + pair.numel()));
}

std::vector<double> GetPair(const State& state, const std::string& name) {
  using Pointer = std::shared_ptr<const at::Tensor>;
  if (!std::holds_alternative<Pointer>(state.values().at(name))) {
    return state.Get<std::vector<double>>(name);
  }
  const at::Tensor pair = GetTensor(state, name).to(at::kCPU, at::kDouble);
  const double* const numbers = pair.const_data_ptr<double>();
  return {numbers, numbers + pair.numel()};
}

}  // namespace

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

at::Tensor MetricMeans::Pair(const Mean& mean, at::Device device) {
  const auto options = at::device(device).dtype(at::kDouble);
  const at::Tensor& on_device = mean.device_sum.tensor();
  return at::stack({on_device.defined() ? on_device.add(mean.sum)
                                        : at::full({}, mean.sum, options),
                    at::full({}, mean.weight, options)});
}

at::Tensor MetricMeans::AllSums(Backend& backend) const {
  std::vector<at::Tensor> rows;
  for (const Mean& mean : means_) rows.push_back(Pair(mean, backend.device()));
  at::Tensor all = at::stack(rows);
  backend.collectives().AllReduce(all, ReduceOp::kSum);
  return all;
}

std::map<std::string, double> MetricMeans::Read(Backend& backend) const {
  if (backend.num_processes() == 1 || means_.empty()) return Read();
  const at::Tensor all = AllSums(backend).cpu();
  const double* const sums = all.const_data_ptr<double>();
  std::map<std::string, double> means;
  for (size_t i = 0; i < means_.size(); ++i) {
    means[means_[i].name] = sums[2 * i] / sums[2 * i + 1];
  }
  return means;
}

State MetricMeans::SaveState(Backend& backend) const {
  if (backend.num_processes() == 1 || means_.empty()) return SaveState();
  const at::Tensor all = AllSums(backend);
  State state;
  for (size_t i = 0; i < means_.size(); ++i) {
    SetPair(state, means_[i].name, all[static_cast<int64_t>(i)]);
  }
  return state;
}

State MetricMeans::SaveState() const {
  State state;
  for (const Mean& mean : means_) {
    const at::Tensor& on_device = mean.device_sum.tensor();
    if (on_device.defined()) {
      SetTensor(state, mean.name, Pair(mean, on_device.device()));
    } else {
      state.Set(mean.name, std::vector<double>{mean.sum, mean.weight});
    }
  }
  return state;
}

void MetricMeans::LoadState(const State& state) {
  state.CheckVersion(1);
  std::vector<Mean> means;
  for (const auto& [name, value] : state.values()) {
    const std::vector<double> sums = GetPair(state, name);
    TORCH_CHECK_VALUE(sums.size() == 2, "state of metric \"", name, "\" has ",
                      sums.size(), " numbers, not 2");
    means.push_back({.name = name, .sum = sums[0], .weight = sums[1]});
  }
  means_ = std::move(means);
  next_ = 0;
}

}  // namespace trainyard

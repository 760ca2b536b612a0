#include "trainer/eval_metrics.h"

#include <ATen/ops/cat.h>
#include <c10/util/Exception.h>

#include <utility>

namespace trainyard {

EvalMetrics::EvalMetrics(MetricReducers reducers)
    : reducers_(std::move(reducers)) {}

void EvalMetrics::Add(const StepOutput& output) {
  size_t place = 0;
  if (output.loss.defined()) {
    AddTo(place++, "loss", output.loss, output.weight);
  }
  for (const auto& [name, value] : output.metrics) {
    AddTo(place++, name, value, output.weight);
  }
  TORCH_CHECK_VALUE(place > 0,
                    "EvalStep returned neither a loss nor a metric; return "
                    "what it measured");
  TORCH_CHECK_VALUE(place == metrics_.size(), "EvalStep returned ", place,
                    " metrics, but those of its first batch were", Names());
  first_ = false;
}

void EvalMetrics::AddTo(size_t place, std::string_view name,
                        const at::Tensor& value, double weight) {
  if (first_) {
    for (const Metric& other : metrics_) {
      TORCH_CHECK_VALUE(other.name != name, "EvalStep returned \"", name,
                        "\" twice");
    }
    const auto found = reducers_.find(std::string(name));
    metrics_.push_back({std::string(name),
                        found == reducers_.end() ? nullptr : found->second()});
  }
  TORCH_CHECK_VALUE(place < metrics_.size() && metrics_[place].name == name,
                    "EvalStep returned \"", name,
                    "\", but the metrics of its first batch were", Names());
  if (MetricReducer* reducer = metrics_[place].reducer.get()) {
    TORCH_CHECK_VALUE(value.defined(), "metric \"", name, "\" is undefined");
    reducer->Add(value, weight);
  } else {
    means_.Add(name, value, weight);
  }
}

Metrics EvalMetrics::Read(Backend& backend) const {
  for (const auto& [name, make] : reducers_) {
    bool found = false;
    for (const Metric& metric : metrics_) found |= metric.name == name;
    TORCH_CHECK_VALUE(found, "EvalReducers names \"", name,
                      "\", which EvalStep did not return; it returned",
                      Names());
  }
  Metrics result = means_.Read(backend);
  for (const Metric& metric : metrics_) {
    if (metric.reducer == nullptr) continue;
    result[metric.name] = metric.reducer->Result(
        at::cat(backend.collectives().AllGather(metric.reducer->Partial())));
  }
  return result;
}

std::string EvalMetrics::Names() const {
  std::string names;
  for (const Metric& metric : metrics_) names += " \"" + metric.name + "\"";
  return names.empty() ? " none" : names;
}

}  // namespace trainyard

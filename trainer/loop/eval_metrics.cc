#include "trainer/loop/eval_metrics.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <sstream>
#include <utility>

#include "backends/gather_text.h"

namespace trainyard {

EvalMetrics::EvalMetrics(MetricReducers reducers)
    : reducers_(std::move(reducers)) {}

void EvalMetrics::Add(const StepOutput& output) {
  const double weight = output.weight.value();
  if (weight == 0) return;  // a mean over nothing is no number
  size_t place = 0;
  if (output.loss.defined()) AddTo(place++, "loss", output.loss, weight);
  for (const auto& [name, value] : output.metrics) {
    AddTo(place++, name, value, weight);
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

std::string EvalMetrics::Describe() const {
  std::ostringstream lines;
  for (const Metric& metric : metrics_) {
    lines << metric.name << '\t';
    if (metric.reducer != nullptr) {
      const at::Tensor rows = metric.reducer->Partial();
      lines << static_cast<int>(rows.scalar_type());
      for (const int64_t size : rows.sizes().slice(1)) lines << ' ' << size;
    }
    lines << '\n';
  }
  return lines.str();
}

void EvalMetrics::Learn(const std::string& metrics, Backend& backend) {
  std::istringstream lines(metrics);
  std::string name, shape;
  while (std::getline(lines, name, '\t') && std::getline(lines, shape)) {
    if (shape.empty()) {
      means_.Add(name, at::zeros({}), /*weight=*/1);
      metrics_.push_back({name, nullptr});
      continue;
    }
    std::istringstream words(shape);
    int type = 0;
    words >> type;
    std::vector<int64_t> sizes = {0};
    for (int64_t size = 0; words >> size;) sizes.push_back(size);
    const auto made = reducers_.at(name);
    metrics_.push_back({name, made(),
                        at::zeros(sizes, static_cast<at::ScalarType>(type))
                            .to(backend.device())});
  }
  means_.Forget();
}

Metrics EvalMetrics::Read(Backend& backend) {
  if (backend.num_processes() > 1) {
    // With fewer records than processes, some have seen none.
    for (const std::string& metrics :
         GatherText(backend.collectives(), Describe())) {
      if (metrics_.empty()) Learn(metrics, backend);
    }
  }
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
    const at::Tensor rows =
        metric.no_rows.defined() ? metric.no_rows : metric.reducer->Partial();
    result[metric.name] =
        metric.reducer->Result(at::cat(backend.collectives().AllGather(rows)));
  }
  return result;
}

std::string EvalMetrics::Names() const {
  std::string names;
  for (const Metric& metric : metrics_) names += " \"" + metric.name + "\"";
  return names.empty() ? " none" : names;
}

}  // namespace trainyard

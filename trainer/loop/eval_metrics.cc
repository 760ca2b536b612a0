#include "trainer/loop/eval_metrics.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
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
  ++batch_;
  if (weight == 0) return;  // the mean over no records is undefined
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
    if (reducer->keeps_rows()) {
      std::vector<int64_t>& rows = metrics_[place].rows_of_batch;
      rows.resize(batch_);  // batches of weight 0 gave no rows
      rows.back() = value.dim() == 0 ? 1 : value.size(0);
    }
  } else {
    means_.Add(name, value, weight);
  }
}

std::string EvalMetrics::Describe() const {
  std::ostringstream lines;
  for (const Metric& metric : metrics_) {
    lines << metric.name << '\t';
    if (metric.reducer != nullptr) {
      lines << static_cast<int>(metric.partial.scalar_type());
      for (const int64_t size : metric.partial.sizes().slice(1)) {
        lines << ' ' << size;
      }
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
    metrics_.push_back(
        {.name = name,
         .reducer = made(),
         .partial = at::zeros(sizes, static_cast<at::ScalarType>(type))
                        .to(backend.device())});
  }
  means_.Forget();
}

at::Tensor EvalMetrics::RowsOfAll(const Metric& metric,
                                  Collectives& collectives) {
  const std::vector<at::Tensor> rows = collectives.AllGather(metric.partial);
  if (rows.size() == 1 || !metric.reducer->keeps_rows()) return at::cat(rows);
  // A global batch is divided among the ranks in their order.
  const std::vector<at::Tensor> counts =
      collectives.AllGather(at::tensor(metric.rows_of_batch, at::kLong));
  std::vector<int64_t> taken(rows.size(), 0);
  std::vector<at::Tensor> in_order;
  for (int64_t batch = 0;; ++batch) {
    bool more = false;
    for (size_t rank = 0; rank < rows.size(); ++rank) {
      if (batch >= counts[rank].size(0)) continue;
      more = true;
      const int64_t count = counts[rank].const_data_ptr<int64_t>()[batch];
      in_order.push_back(rows[rank].narrow(0, taken[rank], count));
      taken[rank] += count;
    }
    if (!more) return at::cat(in_order);
  }
}

Metrics EvalMetrics::Read(Backend& backend) {
  for (Metric& metric : metrics_) {
    if (metric.reducer != nullptr) metric.partial = metric.reducer->Partial();
  }
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
    const at::Tensor rows = RowsOfAll(metric, backend.collectives());
    for (const auto& [key, value] : metric.reducer->Result(rows)) {
      const std::string name =
          key.empty() ? metric.name : metric.name + "_" + key;
      TORCH_CHECK_VALUE(result.emplace(name, value).second, "Evaluation: \"",
                        name,
                        "\" is the name of two values; rename the metric \"",
                        metric.name, "\"");
    }
  }
  return result;
}

std::string EvalMetrics::Names() const {
  std::string names;
  for (const Metric& metric : metrics_) names += " \"" + metric.name + "\"";
  return names.empty() ? " none" : names;
}

}  // namespace trainyard

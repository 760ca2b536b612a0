#include "backends/output_collector.h"

#include <ATen/ops/cat.h>
#include <c10/util/Exception.h>

namespace trainyard {

void OutputCollector::Collect(const std::vector<at::Tensor>& outputs) {
  if (parts_.empty()) parts_.resize(outputs.size());
  TORCH_CHECK_VALUE(outputs.size() == parts_.size(),
                    "OutputCollector: ", outputs.size(),
                    " outputs after steps with ", parts_.size());
  for (const at::Tensor& output : outputs) {
    TORCH_CHECK_VALUE(output.defined(), "OutputCollector: an output is empty");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor output = outputs[i].detach();
    // Copied even from the CPU: the next step may write into the same memory.
    at::Tensor kept = output.is_cpu() ? output.clone() : output.cpu();
    parts_[i].push_back(kept.dim() == 0 ? kept.reshape({1}) : kept);
  }
}

std::vector<at::Tensor> OutputCollector::All() const {
  std::vector<at::Tensor> all;
  for (const auto& parts : parts_) all.push_back(at::cat(parts));
  return all;
}

}  // namespace trainyard

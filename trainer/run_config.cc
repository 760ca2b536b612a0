#include "trainer/run_config.h"

namespace trainyard {

std::vector<std::pair<std::string, std::string>> RunConfig::Fields() const {
  const auto text = [](std::optional<int64_t> number) {
    return number ? std::to_string(*number) : std::string("unknown");
  };
  return {{"backend", backend},
          {"device", device},
          {"num_processes", text(num_processes)},
          {"seed", text(seed)},
          {"num_epochs", num_epochs ? text(num_epochs) : "unlimited"},
          {"per_device_batch_size", text(per_device_batch_size)},
          {"eval_per_device_batch_size", text(eval_per_device_batch_size)},
          {"grad_accum_steps", text(grad_accum_steps)},
          {"total_batch_size", text(total_batch_size)},
          {"eval_total_batch_size", text(eval_total_batch_size)},
          {"batches_per_epoch", text(batches_per_epoch)},
          {"eval_batches", text(eval_batches)},
          {"updates_per_epoch", text(updates_per_epoch)},
          {"total_updates", text(total_updates)},
          {"clip", clip},
          {"evaluate", evaluate},
          {"checkpoint", checkpoint},
          {"report", report},
          {"loader", loader},
          {"eval_loader", eval_loader}};
}

std::string RunConfig::EpochLabel(int64_t epoch) const {
  const std::string label = std::to_string(epoch + 1);
  return num_epochs ? label + "/" + std::to_string(*num_epochs) : label;
}

std::string RunConfig::ToString() const {
  std::string lines;
  for (const auto& [name, value] : Fields()) {
    lines.append(name).append(": ").append(value).append("\n");
  }
  return lines;
}

std::vector<std::string> Differences(
    const RunConfig& now, const std::map<std::string, std::string>& before) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : now.Fields()) {
    const auto found = before.find(name);
    if (found == before.end() || found->second == value) continue;
    differences.push_back(name + " is " + value + ", was " + found->second);
  }
  return differences;
}

}  // namespace trainyard

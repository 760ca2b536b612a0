#include "callbacks/recording/profiler.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

namespace trainyard {

Profiler::Profiler(ProfilerOptions options) : options_(std::move(options)) {
  TORCH_CHECK_VALUE(!options_.path.empty(), "Profiler: path is empty");
  TORCH_CHECK_VALUE(options_.first_batch >= 1, "Profiler: first_batch is ",
                    options_.first_batch, "; it must be at least 1");
  TORCH_CHECK_VALUE(options_.batches >= 1, "Profiler: batches is ",
                    options_.batches, "; it must be at least 1");
}

void Profiler::OnRunStart(const RunStart&, Control&) { batch_ = 0; }

void Profiler::OnStepStart(const StepStart&, Control&) {
  if (++batch_ == options_.first_batch) Start();
}

void Profiler::OnStepEnd(const StepEnd&, Control&) {
  if (recording_ && batch_ >= options_.first_batch + options_.batches - 1) {
    Write();
  }
}

void Profiler::OnRunEnd(const RunEnd&, Control&) {
  if (recording_) Write();
}

void Profiler::Start() {
  using torch::profiler::impl::ActivityType;
  const torch::profiler::impl::ProfilerConfig config(
      torch::profiler::impl::ProfilerState::KINETO, options_.shapes,
      options_.memory);
  std::set<ActivityType> activities = {ActivityType::CPU};
  if (at::hasCUDA()) activities.insert(ActivityType::CUDA);
  torch::autograd::profiler::prepareProfiler(config, activities);
  // All scopes: functions, backward functions and a user's own.
  torch::autograd::profiler::enableProfiler(config, activities);
  recording_ = true;
}

void Profiler::Write() {
  recording_ = false;
  const std::unique_ptr<torch::autograd::profiler::ProfilerResult> result =
      torch::autograd::profiler::disableProfiler();
  // Kineto does not tell whether it could write: a file from before would pass
  // for this one's.
  std::error_code error;
  std::filesystem::remove(options_.path, error);
  result->save(options_.path);
  TORCH_CHECK(std::filesystem::exists(options_.path, error),
              "Profiler: ", options_.path, " cannot be written");
}

}  // namespace trainyard

#include "callbacks/weights/save_best.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "backends/whole_parameters.h"
#include "trainer/model/tensor_match.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

// A checkpoint may be in the making, and the one before it damaged.
constexpr size_t kCheckpoints = 3;

void Check(const SaveBestOptions& options, bool has_weights) {
  const auto require = [](bool holds, const std::string& problem) {
    if (!holds) throw std::invalid_argument("SaveBest: " + problem);
  };
  require(has_weights, "there are no weights to save");
  require(!options.directory.empty(), "directory is empty");
  require(options.keep >= 1, "keep is " + std::to_string(options.keep) +
                                 "; it must be at least 1");
}

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

// All its digits.
std::string Text(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace

SaveBest::SaveBest(std::vector<NamedTensor> weights, SaveBestOptions options)
    : weights_(std::move(weights)),
      options_(std::move(options)),
      watch_("SaveBest", options_.metric),
      folder_(options_.directory) {
  Check(options_, !weights_.empty());
}

// A small tensor of the host, as rank 0 has it.
at::Tensor SaveBest::FromMain(const at::Tensor& mine) const {
  if (backend_->num_processes() == 1) return mine;
  at::Tensor sent = mine.to(backend_->device());
  backend_->collectives().Broadcast(sent);
  return sent.cpu();
}

State SaveBest::SaveState() const {
  std::vector<int64_t> steps, epochs;
  std::vector<double> values;
  for (const Saved& saved : saved_) {
    steps.push_back(saved.step);
    epochs.push_back(saved.epoch);
    values.push_back(saved.value);
  }
  in_checkpoints_.emplace_back(steps.begin(), steps.end());
  if (in_checkpoints_.size() > kCheckpoints) in_checkpoints_.pop_front();
  State state;
  state.Set("steps", std::move(steps));
  state.Set("epochs", std::move(epochs));
  state.Set("values", std::move(values));
  state.Set("judged", watch_.taken());
  return state;
}

void SaveBest::LoadState(const State& state) {
  state.CheckVersion(1);
  const auto& steps = state.Get<std::vector<int64_t>>("steps");
  const auto& epochs = state.Get<std::vector<int64_t>>("epochs");
  const auto& values = state.Get<std::vector<double>>("values");
  const auto judged = state.Get<int64_t>("judged");
  if (epochs.size() != steps.size() || values.size() != steps.size()) {
    throw std::invalid_argument(
        "SaveBest: the state has different numbers of steps, epochs and "
        "values");
  }
  saved_.clear();
  for (size_t i = 0; i < steps.size(); ++i) {
    saved_.push_back({steps[i], epochs[i], values[i]});
  }
  in_checkpoints_ = {{steps.begin(), steps.end()}};
  watch_.StartRun(judged);
}

void SaveBest::OnRunStart(const RunStart& e, Control&) {
  backend_ = &e.backend;
  if (e.resumed) {
    foreign_files_ = false;
    ForgetMissing();
    return PointToBest();
  }
  watch_.StartRun();
  if (!options_.reset_on_run && !saved_.empty()) return;
  saved_.clear();
  in_checkpoints_.clear();
  foreign_files_ = true;
}

// All ranks have the same list: rank 0's files decide.
void SaveBest::ForgetMissing() {
  std::vector<int64_t> there;
  for (const Saved& saved : saved_) {
    there.push_back(main() && folder_.Has(saved.step) ? 1 : 0);
    if (main() && there.back() == 0) {
      LOG(WARNING) << "SaveBest: " << PathOf(saved)
                   << " is missing; the run continues without it";
    }
  }
  if (there.empty()) return;
  const at::Tensor agreed = FromMain(at::tensor(there, at::kLong));
  size_t i = 0;
  std::erase_if(saved_, [&](const Saved&) {
    return agreed.const_data_ptr<int64_t>()[i++] == 0;
  });
}

void SaveBest::OnEvalEnd(const EvalEnd& e, Control&) {
  if (const auto value = watch_.Take(e)) Judge(*value, e.clock);
}

void SaveBest::OnEpochEnd(const EpochEnd& e, Control&) {
  // Weights of now have the newest value only.
  const std::vector<double> values = watch_.Take(e);
  if (!values.empty()) Judge(values.back(), e.clock);
}

void SaveBest::Judge(double value, const RunClock& clock) {
  value = FromMain(at::scalar_tensor(value, at::kDouble)).item<double>();
  if (std::isnan(value)) return;
  const bool full = static_cast<int64_t>(saved_.size()) >= options_.keep;
  if (full && !Improves(value, saved_.back().value, options_.better)) return;
  const Saved saved{.step = clock.updates(),
                    .epoch = clock.epoch_of_last_batch() + 1,
                    .value = value};
  Write(saved);
  std::erase_if(saved_, [&](const Saved& s) { return s.step == saved.step; });
  const auto place =
      std::find_if(saved_.begin(), saved_.end(), [&](const Saved& s) {
        return Improves(value, s.value, options_.better);
      });
  saved_.insert(place, saved);
  if (static_cast<int64_t>(saved_.size()) > options_.keep) saved_.pop_back();
  PointToBest();
  if (!main()) return;
  std::set<int64_t> stay;
  for (const Saved& s : saved_) stay.insert(s.step);
  for (const auto& steps : in_checkpoints_) {
    stay.insert(steps.begin(), steps.end());
  }
  folder_.Retain(stay);
}

void SaveBest::PointToBest() const {
  if (!main() || saved_.empty()) return;
  const absl::Status pointed = folder_.Point(saved_.front().step);
  if (!pointed.ok()) LOG(WARNING) << "SaveBest: " << Text(pointed);
}

void SaveBest::Write(const Saved& saved) {
  const WholeParameters whole(*backend_);
  absl::Status status;
  if (main()) {
    if (foreign_files_) status = folder_.MoveAside();
    if (status.ok()) {
      status = folder_.Write(saved.step, weights_,
                             {{"metric", options_.metric},
                              {"value", Text(saved.value)},
                              {"step", std::to_string(saved.step)},
                              {"epoch", std::to_string(saved.epoch)}});
    }
  }
  foreign_files_ = false;
  if (!backend_->collectives().Any(!status.ok())) return;
  throw std::runtime_error(
      "SaveBest: " +
      (main() ? Text(status)
              : "rank 0 could not write " + folder_.PathOf(saved.step)));
}

void SaveBest::OnRunEnd(const RunEnd& e, Control&) {
  watch_.EndRun(e);
  if (!options_.reload || saved_.empty() || e.ending == RunEnding::kError) {
    return;
  }
  Reload();
}

void SaveBest::Reload() {
  const WholeParameters whole(*backend_);
  std::string problems;
  bool loaded = false;
  for (size_t i = 0; main() && !loaded && i < saved_.size(); ++i) {
    const auto read = folder_.Read(saved_[i].step);
    const absl::Status status =
        read.ok() ? LoadTensors(*read, weights_) : read.status();
    loaded = status.ok();
    if (!loaded) problems += (problems.empty() ? "" : "; ") + Text(status);
  }
  if (!backend_->collectives().Any(loaded)) {
    throw std::runtime_error(
        "SaveBest: the best weights cannot be read, the model keeps its last "
        "ones: " +
        (main() ? problems : "see rank 0"));
  }
  if (!problems.empty()) {
    LOG(WARNING) << "SaveBest: reloaded the next best weights: " << problems;
  }
  if (backend_->num_processes() > 1) {
    const at::NoGradGuard no_gradients;
    for (const NamedTensor& weight : weights_) {
      at::Tensor tensor = weight.tensor.detach();
      backend_->collectives().Broadcast(tensor);
    }
  }
  backend_->ParametersLoaded();
}

}  // namespace trainyard

#include "callbacks/weights/gradual_unfreezing.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace trainyard {
namespace {

constexpr char kFreezerPrefix[] = "freezer/";
constexpr char kGivenPrefix[] = "given/";

}  // namespace

GradualUnfreezing::GradualUnfreezing(ModelFreezer& freezer,
                                     Optimizer& optimizer,
                                     std::vector<UnfreezeStep> steps)
    : freezer_(freezer), optimizer_(optimizer), steps_(std::move(steps)) {
  for (const UnfreezeStep& step : steps_) {
    TORCH_CHECK_VALUE(step.after_epochs >= 0,
                      "GradualUnfreezing: after_epochs is ", step.after_epochs,
                      "; it must be at least 0");
    if (step.pattern.empty()) {
      freezer_.OfGroups(step.from, step.to);
    } else {
      freezer_.Matching(step.pattern);
    }
  }
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const UnfreezeStep& a, const UnfreezeStep& b) {
                     return a.after_epochs < b.after_epochs;
                   });
}

void GradualUnfreezing::OnEpochStart(const EpochStart& e, Control&) {
  while (given_.size() < steps_.size() &&
         steps_[given_.size()].after_epochs <= e.clock.epoch()) {
    const UnfreezeStep& step = steps_[given_.size()];
    Hand(step, step.pattern.empty()
                   ? freezer_.UnfreezeGroups(step.from, step.to)
                   : freezer_.UnfreezeMatching(step.pattern));
  }
}

void GradualUnfreezing::OnStepStart(const StepStart&, Control&) {
  freezer_.ApplyModes();
}

void GradualUnfreezing::Hand(const UnfreezeStep& step,
                             std::vector<NamedTensor> unfrozen) {
  std::erase_if(unfrozen, [this](const NamedTensor& item) {
    return optimizer_.Trains(item.tensor);
  });
  std::string names;
  for (const NamedTensor& item : unfrozen) names += item.name + "\n";
  if (!unfrozen.empty()) {
    optimizer_.AddGroup(
        {.params = std::move(unfrozen), .overrides = step.overrides});
  }
  given_.push_back(std::move(names));
}

State GradualUnfreezing::SaveState() const {
  State state;
  const State freezer = freezer_.SaveState();
  for (const auto& [name, value] : freezer.values()) {
    state.Set(kFreezerPrefix + name, value);
  }
  state.Set("done", static_cast<int64_t>(given_.size()));
  for (size_t i = 0; i < given_.size(); ++i) {
    state.Set(kGivenPrefix + std::to_string(i), given_[i]);
  }
  return state;
}

void GradualUnfreezing::LoadState(const State& state) {
  state.CheckVersion(1);
  const auto done = static_cast<size_t>(state.Get<int64_t>("done"));
  if (done > steps_.size()) {
    throw std::invalid_argument(
        "GradualUnfreezing: the state has " + std::to_string(done) +
        " steps done, and there are " + std::to_string(steps_.size()));
  }
  State freezer;
  for (const auto& [name, value] : state.values()) {
    if (name.starts_with(kFreezerPrefix)) {
      freezer.Set(name.substr(sizeof(kFreezerPrefix) - 1), value);
    }
  }
  freezer_.LoadState(freezer);
  const std::vector<NamedTensor> trainable = freezer_.TrainableParameters();
  // Groups in the order of the run before: the optimizer's state is by names,
  // its fields are by groups.
  for (size_t i = given_.size(); i < done; ++i) {
    std::istringstream lines(
        state.Get<std::string>(kGivenPrefix + std::to_string(i)));
    std::set<std::string> names;
    for (std::string line; std::getline(lines, line);) names.insert(line);
    std::vector<NamedTensor> given;
    for (const NamedTensor& item : trainable) {
      if (names.contains(item.name)) given.push_back(item);
    }
    Hand(steps_[i], std::move(given));
  }
}

}  // namespace trainyard

#include "backends/sharded/unit_schedule.h"

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace trainyard {
namespace {

constexpr size_t kRoot = 0;

bool HasFrozen(const ShardUnit& unit) {
  return std::any_of(
      unit.params().begin(), unit.params().end(),
      [](const ParamSlice& param) { return !param.whole.requires_grad(); });
}

}  // namespace

struct UnitSchedule::Way {
  size_t unit = 0;
  size_t models = 0;
  // Inputs whose gradients tell that backward is through, and those that are
  // missing.
  size_t inputs = 0;
  size_t missing = 0;
  bool open = false;
};

UnitSchedule::UnitSchedule(ProcessGroup& group, SliceExchange& exchange,
                           UnitScheduleOptions options)
    : group_(group), exchange_(exchange), options_(std::move(options)) {
  TORCH_CHECK_VALUE(options_.bucket_bytes > 0,
                    "UnitSchedule: bucket_bytes is 0");
}

void UnitSchedule::Use(const std::vector<ModelTensors>& models,
                       const FindSlice& find) {
  for (size_t i = 0; i < units_.size(); ++i) units_[i].shard->Release();
  units_.clear();
  unit_of_.clear();
  by_declared_.clear();
  last_forward_ = last_backward_ = {};
  last_sync_.clear();
  forward_pending_ = false;
  ++models_;

  std::vector<std::vector<ParamSlice>> params(1);
  std::vector<std::string> names = {"the root unit"};
  const auto add = [&](const at::Tensor& parameter, size_t unit) {
    const ParamSlice* const slice = find(parameter);
    if (slice == nullptr) return;
    if (unit_of_.emplace(parameter.unsafeGetTensorImpl(), unit).second) {
      params[unit].push_back(*slice);
    }
  };
  // A parameter of two models may be used outside of its unit.
  std::unordered_map<const void*, size_t> owners;
  std::unordered_set<const void*> shared;
  for (size_t i = 0; i < models.size(); ++i) {
    for (const NamedTensor& item : models[i].parameters) {
      const void* const key = item.tensor.unsafeGetTensorImpl();
      if (owners.emplace(key, i).first->second != i) shared.insert(key);
    }
  }
  for (const ModelTensors& model : models) {
    for (const UnitTensors& declared : model.units) {
      const std::string name = model.name + "." + declared.name;
      if (options_.is_unit && !options_.is_unit(name)) continue;
      params.emplace_back();
      names.push_back(name);
      for (const at::Tensor& parameter : declared.parameters) {
        if (shared.contains(parameter.unsafeGetTensorImpl())) continue;
        add(parameter, params.size() - 1);
      }
      if (params.back().empty()) {
        params.pop_back();
        names.pop_back();
        continue;
      }
      by_declared_[declared.unit.get()] = params.size() - 1;
      declared.unit->Watch(weak_from_this());
    }
  }
  for (const ModelTensors& model : models) {
    for (const NamedTensor& item : model.parameters) add(item.tensor, kRoot);
  }
  for (size_t i = 0; i < params.size(); ++i) {
    units_.push_back({std::make_unique<ShardUnit>(
        names[i], exchange_, std::move(params[i]), options_.bucket_bytes)});
    units_.back().shard->Release();
  }
  if (gathered_ > 0) {
    for (Unit& unit : units_) unit.shard->Gather();
  }
}

size_t UnitSchedule::UnitOf(const at::Tensor& parameter) const {
  const auto found = unit_of_.find(parameter.unsafeGetTensorImpl());
  return found == unit_of_.end() ? kRoot : found->second;
}

void UnitSchedule::Demand(size_t unit) {
  if (units_[unit].shard->whole()) return;
  group_.Guard("gathering parameters", [&] {
    pass().events.push_back({.unit = unit});
    units_[unit].shard->Gather();
    std::vector<size_t>& order = pass().order;
    order.push_back(unit);
    const std::vector<size_t>& before = last().order;
    const size_t next = order.size();
    if (options_.prefetch && next < before.size() && before[next - 1] == unit) {
      units_[before[next]].shard->Start();
    }
  });
}

void UnitSchedule::Release(size_t unit) {
  if (gathered_ == 0) units_[unit].shard->Release();
}

// What was started and not used: the pass took another way than the last one.
void UnitSchedule::DropStarted() {
  for (Unit& unit : units_) {
    if (unit.shard->started()) unit.shard->Release();
  }
}

void UnitSchedule::StartForward() {
  if (forwards_++ > 0 || units_.empty()) return;
  forward_ = {};
  backward_in_forward_ = false;
  Demand(kRoot);
}

void UnitSchedule::EndForward() {
  if (--forwards_ > 0 || units_.empty()) return;
  DropStarted();
  if (!c10::GradMode::is_enabled()) return Release(kRoot);
  if (gathered_ == 0) last_forward_ = std::move(forward_);
  if (backward_in_forward_) {
    Release(kRoot);
  } else {
    forward_pending_ = true;
  }
}

void UnitSchedule::Enter(const ModelUnit& unit,
                         const std::vector<at::Tensor>& inputs) {
  const auto found = by_declared_.find(&unit);
  if (found == by_declared_.end()) return;
  Unit& own = units_[found->second];
  Demand(found->second);
  auto way =
      std::make_shared<Way>(Way{.unit = found->second, .models = models_});
  own.inside.push_back(way);
  // Trained parameters tell by themselves when backward is through.
  if (!c10::GradMode::is_enabled() || !HasFrozen(*own.shard)) return;
  for (const at::Tensor& input : inputs) {
    if (!input.defined() || !input.requires_grad() || input.is_leaf()) continue;
    ++way->inputs;
    input.register_hook([weak = weak_from_this(), way](const at::Tensor&) {
      if (const auto units = weak.lock()) units->InputReached(*way);
    });
  }
}

void UnitSchedule::Leave(const ModelUnit& unit,
                         const std::vector<at::Tensor>& outputs) {
  const auto found = by_declared_.find(&unit);
  if (found == by_declared_.end()) return;
  Unit& own = units_[found->second];
  if (own.inside.empty()) return;  // the models were changed inside
  const std::shared_ptr<Way> way = std::move(own.inside.back());
  own.inside.pop_back();
  bool differentiated = false;
  for (const at::Tensor& output : outputs) {
    if (!c10::GradMode::is_enabled() || !output.defined() ||
        !output.requires_grad() || output.is_leaf()) {
      continue;
    }
    differentiated = true;
    output.register_hook([weak = weak_from_this(), way](const at::Tensor&) {
      if (const auto units = weak.lock()) units->OutputReached(*way);
    });
  }
  if (!own.inside.empty()) return;
  // Within backward it is run again, by CheckpointActivations, for its
  // gradient.
  if (differentiated && (options_.keep_after_forward || in_backward_)) return;
  Release(found->second);
}

// Before the gradient of an output goes back through the unit.
void UnitSchedule::OutputReached(Way& way) {
  if (way.models != models_) return;
  Demand(way.unit);
  if (way.inputs == 0 || way.open) return;
  way.open = true;
  way.missing = way.inputs;
  ++units_[way.unit].open;
}

void UnitSchedule::InputReached(Way& way) {
  if (way.models != models_ || !way.open || --way.missing > 0) return;
  way.open = false;
  --units_[way.unit].open;
  ReleaseIfDone(way.unit);
}

void UnitSchedule::Computed(const at::Tensor& parameter) {
  const size_t unit = UnitOf(parameter);
  if (unit == kRoot) return;
  ++units_[unit].computed;
  ReleaseIfDone(unit);
}

void UnitSchedule::ReleaseIfDone(size_t unit) {
  const Unit& own = units_[unit];
  if (own.open == 0 && own.computed >= own.trained && own.inside.empty()) {
    Release(unit);
  }
}

void UnitSchedule::StartBackward(bool sync) {
  in_backward_ = true;
  sync_ = sync;
  backward_ = {};
  for (Unit& unit : units_) {
    unit.computed = unit.open = unit.trained = 0;
    for (const ParamSlice& param : unit.shard->params()) {
      if (param.whole.requires_grad()) ++unit.trained;
    }
  }
  if (!units_.empty()) Demand(kRoot);
}

void UnitSchedule::EndBackward() {
  DropStarted();
  if (gathered_ == 0) {
    if (sync_) last_sync_ = backward_.events;
    last_backward_ = std::move(backward_);
  }
  in_backward_ = false;
  forward_pending_ = false;
  backward_in_forward_ = forwards_ > 0;
  for (size_t i = 0; i < units_.size(); ++i) {
    if (i != kRoot || forwards_ == 0) Release(i);
  }
}

void UnitSchedule::Sending(size_t model, size_t bucket) {
  backward_.events.push_back({.sends = true, .model = model, .bucket = bucket});
}

void UnitSchedule::AbandonPass() {
  if (in_backward_) {
    in_backward_ = false;
  } else if (forwards_ > 0) {
    --forwards_;
  }
}

void UnitSchedule::Replay(const std::vector<Event>& events,
                          const std::function<void(size_t, size_t)>& send) {
  for (const Event& event : events) {
    if (!event.sends) {
      Demand(event.unit);
      if (event.unit != kRoot) Release(event.unit);
    } else if (send) {
      send(event.model, event.bucket);
    }
  }
  DropStarted();
}

void UnitSchedule::ReplayForward() {
  if (forward_pending_ || units_.empty() || gathered_ > 0) return;
  if (units_.size() > 1) {
    TORCH_CHECK_VALUE(
        !last_forward_.events.empty(),
        "fsdp: this rank has no batch, and has made no forward pass before, so "
        "that it does not know the order of the model's units; give every rank "
        "a batch in the first step");
  }
  forward_ = {};
  Demand(kRoot);
  const std::vector<Event> events = last_forward_.events;
  Replay(events, nullptr);
  last_forward_ = std::move(forward_);
}

void UnitSchedule::ReplayBackward(
    const std::function<void(size_t, size_t)>& send) {
  if (units_.size() <= 1 || gathered_ > 0) return;
  const std::vector<Event> events = send ? last_sync_ : last_backward_.events;
  TORCH_CHECK_VALUE(!events.empty(),
                    "fsdp: this rank has no batch, and has made no such "
                    "backward pass before, "
                    "so that it does not know the order of the model's units; "
                    "give every rank "
                    "a batch in the first step");
  in_backward_ = true;
  backward_ = {};
  Replay(events, send);
  last_backward_ = std::move(backward_);
  in_backward_ = false;
}

void UnitSchedule::EndReplay() {
  forward_pending_ = false;
  for (size_t i = 0; i < units_.size(); ++i) {
    if (i != kRoot || forwards_ == 0) Release(i);
  }
}

void UnitSchedule::GatherAll() {
  if (gathered_++ > 0) return;
  group_.Guard("gathering parameters", [&] {
    for (Unit& unit : units_) unit.shard->Gather();
  });
}

void UnitSchedule::ReleaseAll() {
  if (gathered_ == 0 || --gathered_ > 0) return;
  for (size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].inside.empty() && (i != kRoot || forwards_ == 0)) Release(i);
  }
}

void UnitSchedule::Refresh() {
  DropStarted();
  for (Unit& unit : units_) unit.shard->Refresh();
}

void UnitSchedule::Cut() {
  for (Unit& unit : units_) unit.shard->Cut();
}

}  // namespace trainyard

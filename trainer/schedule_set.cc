#include "trainer/schedule_set.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace trainyard {
namespace {

// The run's length in steps of the schedule.
RunLength Counted(const RunLength& run, const FieldSchedule& schedule) {
  RunLength counted = run;
  if (schedule.step_on == StepOn::kBatch) {
    counted.updates_per_epoch = run.batches_per_epoch;
    counted.total_updates =
        run.num_epochs.value() * run.batches_per_epoch.value();
  } else if (schedule.step_on == StepOn::kEpoch) {
    counted.updates_per_epoch = 1;
    counted.total_updates = run.num_epochs;
  }
  const int64_t frequency = schedule.frequency;
  if (auto& per_epoch = counted.updates_per_epoch; per_epoch) {
    // Unknown if it is not whole: a schedule with a length in epochs throws.
    const bool whole = *per_epoch % frequency == 0;
    per_epoch = whole ? std::optional(*per_epoch / frequency) : std::nullopt;
  }
  if (auto& total = counted.total_updates; total) {
    total = (*total + frequency - 1) / frequency;
  }
  return counted;
}

std::string MetricStateName(const std::string& entry, size_t group,
                            const std::string& value) {
  return entry + "/group" + std::to_string(group) + "/" + value;
}

}  // namespace

void ScheduleSet::Add(const FieldSchedule& schedule, Optimizer& optimizer,
                      const RunLength& run) {
  if (schedule.schedule.empty()) return;
  const std::string name =
      (schedule.optimizer.empty() ? "" : schedule.optimizer + "/") +
      schedule.field;
  for (const Entry& other : entries_) {
    TORCH_CHECK_VALUE(other.name != name, "Train: \"", name,
                      "\" has two schedules; compose them into one");
  }
  TORCH_CHECK_VALUE(schedule.frequency >= 1, "Train: the schedule of \"", name,
                    "\" has the frequency ", schedule.frequency,
                    "; it must be at least 1");
  Entry entry{
      .name = name,
      .optimizer = &optimizer,
      .step_on = schedule.step_on,
      .metric = schedule.metric,
      .field = ScheduledField(optimizer, schedule.field, schedule.schedule,
                              Counted(run, schedule)),
      .frequency = schedule.frequency};
  entry.metric_schedules = entry.field.MetricSchedules();
  entry.field.Apply(0);
  entries_.push_back(std::move(entry));
}

void ScheduleSet::Step(StepOn on, const Optimizer* optimizer) {
  for (Entry& entry : entries_) {
    if (entry.step_on != on) continue;
    if (optimizer != nullptr && entry.optimizer != optimizer) continue;
    if (++entry.count % entry.frequency == 0) entry.Apply();
  }
}

bool ScheduleSet::has_metric_schedules() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return !entry.metric_schedules.empty();
  });
}

void ScheduleSet::Observe(const Metrics& metrics) {
  for (Entry& entry : entries_) {
    if (entry.metric_schedules.empty()) continue;
    const auto found = metrics.find(entry.metric);
    if (found == metrics.end()) {
      std::string names;
      for (const auto& [name, value] : metrics) names += " " + name;
      TORCH_CHECK_VALUE(false, "Train: the schedule of \"", entry.name,
                        "\" watches \"", entry.metric,
                        "\", which was not measured; there is", names);
    }
    for (MetricSchedule* schedule : entry.metric_schedules) {
      schedule->Observe(found->second);
    }
    entry.Apply();
  }
}

void ScheduleSet::Restore() {
  for (Entry& entry : entries_) entry.field.Restore();
}

State ScheduleSet::SaveState() const {
  State state;
  for (const Entry& entry : entries_) {
    state.Set(entry.name, entry.count);
    for (size_t group = 0; group < entry.metric_schedules.size(); ++group) {
      const State inner = entry.metric_schedules[group]->SaveState();
      for (const auto& [name, value] : inner.values()) {
        state.Set(MetricStateName(entry.name, group, name), value);
      }
    }
  }
  return state;
}

void ScheduleSet::LoadState(const State& state) {
  state.CheckVersion(1);
  for (const Entry& entry : entries_) state.Get<int64_t>(entry.name);
  for (Entry& entry : entries_) {
    for (size_t group = 0; group < entry.metric_schedules.size(); ++group) {
      const std::string prefix = MetricStateName(entry.name, group, "");
      State inner;
      for (const auto& [name, value] : state.values()) {
        if (name.starts_with(prefix)) {
          inner.Set(name.substr(prefix.size()), value);
        }
      }
      entry.metric_schedules[group]->LoadState(inner);
    }
    entry.count = state.Get<int64_t>(entry.name);
    entry.Apply();
  }
}

}  // namespace trainyard

#include "schedulers/plateau.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "schedulers/option_check.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Plateau");
using Threshold = PlateauOptions::Threshold;

}  // namespace

Plateau::Plateau(PlateauOptions options) : options_(options) {
  kCheck.Positive("factor", options_.factor);
  if (options_.factor >= 1) {
    kCheck.Fail("factor", OptionCheck::Show(options_.factor),
                "want less than 1");
  }
  kCheck.NotNegative("patience", options_.patience);
  kCheck.NotNegative("threshold", options_.threshold);
  kCheck.NotNegative("cooldown", options_.cooldown);
  kCheck.NotNegative("epsilon", options_.epsilon);
  min_ = kCheck.ValueOrRatio("min", options_.min_value, options_.min_ratio, {});
}

bool Plateau::IsBetter(double metric) const {
  const bool lower = options_.better == Better::kLower;
  if (!state_.best) {
    return lower ? metric < std::numeric_limits<double>::infinity()
                 : metric > -std::numeric_limits<double>::infinity();
  }
  const double best = *state_.best;
  const double sign = lower ? -1 : 1;
  const double bar = options_.threshold_mode == Threshold::kRelative
                         ? best * (1 + sign * options_.threshold)
                         : best + sign * options_.threshold;
  return lower ? metric < bar : metric > bar;
}

void Plateau::Observe(double metric) {
  if (IsBetter(metric)) {
    state_.best = metric;
    state_.bad_observations = 0;
  } else {
    ++state_.bad_observations;
  }
  if (state_.cooldown_left > 0) {
    --state_.cooldown_left;
    state_.bad_observations = 0;
  }
  if (state_.bad_observations > options_.patience) {
    ++state_.falls;
    state_.cooldown_left = options_.cooldown;
    state_.bad_observations = 0;
  }
}

double Plateau::ValueAt(int64_t, double base) const {
  const double min = min_.Of(base);
  double value = base;
  // One by one, because a fall that is not made also ends all later ones.
  for (int64_t i = 0; i < state_.falls; ++i) {
    const double next = std::max(value * options_.factor, min);
    if (value - next <= options_.epsilon) break;
    value = next;
  }
  return value;
}

void Plateau::Restore(const PlateauState& state) {
  kCheck.NotNegative("saved bad_observations",
                     static_cast<double>(state.bad_observations));
  kCheck.NotNegative("saved cooldown_left",
                     static_cast<double>(state.cooldown_left));
  kCheck.NotNegative("saved falls", static_cast<double>(state.falls));
  state_ = state;
}

State Plateau::SaveState() const {
  State state;
  if (state_.best) state.Set("best", *state_.best);
  state.Set("bad_observations", state_.bad_observations);
  state.Set("cooldown_left", state_.cooldown_left);
  state.Set("falls", state_.falls);
  return state;
}

void Plateau::LoadState(const State& state) {
  state.CheckVersion(1);
  PlateauState loaded{
      .bad_observations = state.Get<int64_t>("bad_observations"),
      .cooldown_left = state.Get<int64_t>("cooldown_left"),
      .falls = state.Get<int64_t>("falls")};
  if (state.Has("best")) loaded.best = state.Get<double>("best");
  Restore(loaded);
}

ScheduleFactory OnPlateau(const PlateauOptions& options) {
  Plateau checked(options);
  return [options](const RunLength&) {
    return std::make_unique<Plateau>(options);
  };
}

}  // namespace trainyard

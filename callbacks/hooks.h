// The table that ties each event type to its hook: one list of events, one of
// their names, one of the hooks, in the same order. Adding an event is one line
// in each.
#ifndef TRAINYARD_CALLBACKS_HOOKS_H_
#define TRAINYARD_CALLBACKS_HOOKS_H_

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace trainyard {

using Events =
    std::tuple<InitEnd, RunStart, EpochStart, StepStart, ForwardEnd, LossEnd,
               BackwardEnd, GradientsReady, UpdateEnd, StepEnd, TrainEpochEnd,
               EvalStart, EvalStepStart, EvalStepEnd, EvalEnd, EpochEnd,
               CheckpointSaved, CheckpointLoaded, MetricsReport, RunStopped,
               RunCancelled, RunEnd>;

inline constexpr size_t kNumEvents = std::tuple_size_v<Events>;

inline constexpr std::array<std::string_view, kNumEvents> kHookNames = {
    "OnInitEnd",       "OnRunStart",        "OnEpochStart",
    "OnStepStart",     "OnForwardEnd",      "OnLossEnd",
    "OnBackwardEnd",   "OnGradientsReady",  "OnUpdateEnd",
    "OnStepEnd",       "OnTrainEpochEnd",   "OnEvalStart",
    "OnEvalStepStart", "OnEvalStepEnd",     "OnEvalEnd",
    "OnEpochEnd",      "OnCheckpointSaved", "OnCheckpointLoaded",
    "OnMetricsReport", "OnRunStopped",      "OnRunCancelled",
    "OnRunEnd"};

// The hooks of T. Where T does not override one, its type is that of the
// base's.
template <class T>
constexpr auto HooksOf() {
  return std::make_tuple(
      &T::OnInitEnd, &T::OnRunStart, &T::OnEpochStart, &T::OnStepStart,
      &T::OnForwardEnd, &T::OnLossEnd, &T::OnBackwardEnd, &T::OnGradientsReady,
      &T::OnUpdateEnd, &T::OnStepEnd, &T::OnTrainEpochEnd, &T::OnEvalStart,
      &T::OnEvalStepStart, &T::OnEvalStepEnd, &T::OnEvalEnd, &T::OnEpochEnd,
      &T::OnCheckpointSaved, &T::OnCheckpointLoaded, &T::OnMetricsReport,
      &T::OnRunStopped, &T::OnRunCancelled, &T::OnRunEnd);
}

template <size_t kEvent>
using EventAt = std::tuple_element_t<kEvent, Events>;

// The event's place in the table; kNumEvents for a type that a user declared.
template <class Event, size_t kEvent = 0>
constexpr size_t IndexOf() {
  if constexpr (kEvent == kNumEvents) {
    return kNumEvents;
  } else if constexpr (std::is_same_v<Event, EventAt<kEvent>>) {
    return kEvent;
  } else {
    return IndexOf<Event, kEvent + 1>();
  }
}

// Whether the class T does anything at the event. For the base itself it is
// unknown: yes.
template <class T, size_t kEvent>
constexpr bool Overrides() {
  using Own = std::tuple_element_t<kEvent, decltype(HooksOf<T>())>;
  using Base = void (Callback::*)(const EventAt<kEvent>&, Control&);
  return std::is_same_v<T, Callback> || !std::is_same_v<Own, Base>;
}

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_HOOKS_H_

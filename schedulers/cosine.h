// Cosine decay with warm-up and cool-down, in one cycle or several.
//
//   Cosine({.warmup = Epochs(1), .min_ratio = 0.01});
//
// Warm-up rises in equal steps from its start to the group's configured value;
// then, n updates later and with T updates between warm-up and cool-down,
//
//   value = min + (base - min) / 2 * (1 + cos(pi * (n / T)^k_decay))
//
// cool-down holds the minimum, also after the end of the run. With several
// cycles T is divided among them and each starts again at its own peak.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_COSINE_H_
#define TRAINYARD_SCHEDULERS_COSINE_H_

#include <optional>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct CosineOptions {
  // Part of the run, in updates or epochs.
  Duration warmup = Updates(0);
  // Where warm-up starts: a value, or a ratio of the group's configured value.
  // 0 if both are unset. REQUIRES: >= 0, at most one set.
  std::optional<double> warmup_start_value = std::nullopt;
  std::optional<double> warmup_start_ratio = std::nullopt;

  // Part of the run, in updates or epochs; the minimum is held.
  Duration cooldown = Updates(0);

  // What the cosine falls to, as a value or a ratio of the configured value. 0
  // if both are unset. REQUIRES: >= 0, at most one set.
  std::optional<double> min_value = std::nullopt;
  std::optional<double> min_ratio = std::nullopt;

  // Above 1 stays high for longer. REQUIRES: > 0.
  double k_decay = 1;

  // How often the cosine falls. REQUIRES: >= 1.
  int cycles = 1;
  // Each cycle is this much longer than the one before. REQUIRES: > 0.
  double cycle_mul = 1;
  // Each cycle's peak is this ratio of the one before. REQUIRES: > 0.
  double cycle_decay = 1;
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Cosine(CosineOptions options = {});

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_COSINE_H_

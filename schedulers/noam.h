// The schedule of the first transformers, with the constants of that paper.
//
//   Noam({.d_model = 512, .warmup = Updates(4000)});
//
// value = base * d_model^-0.5 * min(s^-0.5, s * W^-1.5) with s = n + 1 and W
// the updates of warm-up: the configured value is a factor (usually 1 or 2),
// and the peak base / sqrt(d_model * W). See inverse_sqrt.h for the same curve
// with the configured value as its peak.
//
// Thread-safe: factory and schedule are immutable.
#ifndef TRAINYARD_SCHEDULERS_NOAM_H_
#define TRAINYARD_SCHEDULERS_NOAM_H_

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

struct NoamOptions {
  // The model's width. Required. REQUIRES: > 0.
  double d_model = 0;
  // Part of the run, in updates or epochs. Required. REQUIRES: > 0.
  Duration warmup = Updates(0);
};

// Throws std::invalid_argument for options that are invalid in every run.
ScheduleFactory Noam(NoamOptions options);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_NOAM_H_

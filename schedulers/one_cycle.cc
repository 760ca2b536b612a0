#include "schedulers/one_cycle.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

using Shape = OneCycleOptions::Shape;

double Between(Shape shape, double start, double end, double part) {
  if (shape == Shape::kLinear) return (end - start) * part + start;
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * part));
}

// The corners that a cycle goes through, and when.
struct Corners {
  // In updates; the first phase starts at 0 and the last ends with the run.
  std::array<double, 3> ends{};
  std::array<Level, 4> levels;
  size_t phases = 2;
};

class OneCycleSchedule final : public Schedule {
 public:
  OneCycleSchedule(Shape shape, const Corners& corners)
      : shape_(shape), corners_(corners) {}

  double ValueAt(int64_t update, double base) const override {
    const double n = static_cast<double>(update);
    const size_t last = corners_.phases - 1;
    size_t phase = 0;
    while (phase < last && n > corners_.ends[phase]) ++phase;
    const double end = corners_.ends[phase];
    const double start = phase == 0 ? 0 : corners_.ends[phase - 1];
    const double end_value = corners_.levels[phase + 1].Of(base);
    // Past the end, or in a phase too short to contain an update.
    if (n >= end) return end_value;
    return Between(shape_, corners_.levels[phase].Of(base), end_value,
                   (n - start) / (end - start));
  }

 private:
  Shape shape_;
  Corners corners_;
};

void Check(const OptionCheck& check, const OneCycleOptions& options) {
  check.Between("pct_start", options.pct_start, 0,
                options.three_phase ? 0.5 : 1);
  check.Positive("div_factor", options.div_factor);
  check.Positive("final_div_factor", options.final_div_factor);
  check.Between("max_momentum", options.max_momentum, 0, 1);
  check.Between("base_momentum", options.base_momentum, 0,
                options.max_momentum);
}

ScheduleFactory Make(OptionCheck check, const OneCycleOptions& options,
                     Level first, Level peak, Level last) {
  Check(check, options);
  return [=](const RunLength& run) -> std::unique_ptr<Schedule> {
    const double total = static_cast<double>(check.Total(run));
    Corners corners;
    // Each phase's last update carries its last value, hence one less.
    const double rise = options.pct_start * total;
    if (options.three_phase) {
      corners = {.ends = {rise - 1, 2 * rise - 2, total - 1},
                 .levels = {first, peak, first, last},
                 .phases = 3};
    } else {
      corners = {.ends = {rise - 1, total - 1}, .levels = {first, peak, last}};
    }
    return std::make_unique<OneCycleSchedule>(options.shape, corners);
  };
}

}  // namespace

ScheduleFactory OneCycle(OneCycleOptions options) {
  const double first = 1 / options.div_factor;
  return Make(OptionCheck("OneCycle"), options, {.ratio = first}, {.ratio = 1},
              {.ratio = first / options.final_div_factor});
}

ScheduleFactory OneCycleMomentum(OneCycleOptions options) {
  const Level high{.value = options.max_momentum};
  return Make(OptionCheck("OneCycleMomentum"), options, high,
              {.value = options.base_momentum}, high);
}

}  // namespace trainyard

#include "schedulers/noam.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Noam");

class NoamSchedule final : public Schedule {
 public:
  NoamSchedule(double d_model, int64_t warmup)
      : scale_(1 / std::sqrt(d_model)),
        rise_(std::pow(static_cast<double>(warmup), -1.5)) {}

  double ValueAt(int64_t update, double base) const override {
    const double s = static_cast<double>(update) + 1;
    return base * scale_ * std::min(1 / std::sqrt(s), s * rise_);
  }

 private:
  double scale_, rise_;
};

}  // namespace

ScheduleFactory Noam(NoamOptions options) {
  kCheck.Positive("d_model", options.d_model);
  kCheck.ResolvablePeriod("warmup", options.warmup);
  return [options](const RunLength& run) -> std::unique_ptr<Schedule> {
    kCheck.WithinRun("warmup", options.warmup, run);
    return std::make_unique<NoamSchedule>(
        options.d_model, kCheck.Period("warmup", options.warmup, run));
  };
}

}  // namespace trainyard

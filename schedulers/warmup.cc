#include "schedulers/warmup.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "schedulers/option_check.h"
#include "schedulers/ramp.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Warmup");

class WarmupSchedule final : public Schedule {
 public:
  WarmupSchedule(Ramp ramp, std::unique_ptr<Schedule> then)
      : ramp_(ramp), then_(std::move(then)) {}

  double ValueAt(int64_t update, double base) const override {
    if (update < ramp_.updates()) {
      return ramp_.ValueAt(update, base, then_->ValueAt(0, base));
    }
    return then_->ValueAt(update - ramp_.updates(), base);
  }

 private:
  Ramp ramp_;
  std::unique_ptr<Schedule> then_;
};

}  // namespace

ScheduleFactory Warmup(WarmupOptions options, ScheduleFactory then) {
  kCheck.Resolvable("length", options.length);
  const Level start = kCheck.ValueOrRatio("start", options.start_value,
                                          options.start_ratio, {});
  if (!then) kCheck.Fail("there is no schedule after it");
  return [options, start, then = std::move(then)](
             const RunLength& run) -> std::unique_ptr<Schedule> {
    const int64_t length = kCheck.WithinRun("length", options.length, run);
    return std::make_unique<WarmupSchedule>(
        Ramp(length, start), then(kCheck.Rest("length", options.length, run)));
  };
}

}  // namespace trainyard

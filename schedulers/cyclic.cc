#include "schedulers/cyclic.h"

#include <cmath>
#include <cstdint>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Cyclic");

class CyclicSchedule final : public Schedule {
 public:
  CyclicSchedule(const CyclicOptions& options, Level peak, int64_t up,
                 int64_t down)
      : peak_(peak),
        mode_(options.mode),
        gamma_(options.gamma),
        up_(up),
        down_(down) {}

  double ValueAt(int64_t update, double base) const override {
    const int64_t cycle = update / (up_ + down_);
    const int64_t n = update % (up_ + down_);
    const double part =
        n <= up_
            ? static_cast<double>(n) / static_cast<double>(up_)
            : static_cast<double>(up_ + down_ - n) / static_cast<double>(down_);
    return base + (peak_.Of(base) - base) * part * Scale(cycle, update);
  }

 private:
  double Scale(int64_t cycle, int64_t update) const {
    switch (mode_) {
      case CyclicMode::kTriangular:
        return 1;
      case CyclicMode::kTriangular2:
        return std::pow(0.5, static_cast<double>(cycle));
      case CyclicMode::kExpRange:
        return std::pow(gamma_, static_cast<double>(update));
    }
    return 1;
  }

  Level peak_;
  CyclicMode mode_;
  double gamma_;
  int64_t up_, down_;
};

}  // namespace

ScheduleFactory Cyclic(CyclicOptions options) {
  if (!options.peak_value && !options.peak_ratio) {
    kCheck.Fail("neither peak_value nor peak_ratio is set, want one");
  }
  const Level peak =
      kCheck.ValueOrRatio("peak", options.peak_value, options.peak_ratio, {});
  kCheck.ResolvablePeriod("up", options.up);
  if (options.down) kCheck.ResolvablePeriod("down", *options.down);
  kCheck.Positive("gamma", options.gamma);
  return [options, peak](const RunLength& run) -> std::unique_ptr<Schedule> {
    const int64_t up = kCheck.Period("up", options.up, run);
    const int64_t down =
        options.down ? kCheck.Period("down", *options.down, run) : up;
    return std::make_unique<CyclicSchedule>(options, peak, up, down);
  };
}

}  // namespace trainyard

#include "schedulers/constant.h"

#include <cstdint>
#include <limits>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Constant");

class ConstantSchedule final : public Schedule {
 public:
  ConstantSchedule(double ratio, int64_t length)
      : ratio_(ratio), length_(length) {}

  double ValueAt(int64_t update, double base) const override {
    return update < length_ ? base * ratio_ : base;
  }

 private:
  double ratio_;
  int64_t length_;
};

}  // namespace

ScheduleFactory Constant(ConstantOptions options) {
  kCheck.NotNegative("ratio", options.ratio);
  if (options.length) kCheck.Resolvable("length", *options.length);
  return [options](const RunLength& run) -> std::unique_ptr<Schedule> {
    const int64_t length =
        options.length ? kCheck.WithinRun("length", *options.length, run)
                       : std::numeric_limits<int64_t>::max();
    return std::make_unique<ConstantSchedule>(options.ratio, length);
  };
}

}  // namespace trainyard

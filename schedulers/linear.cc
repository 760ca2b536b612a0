#include "schedulers/linear.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "schedulers/option_check.h"
#include "schedulers/schedule.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Linear");

class LinearSchedule final : public Schedule {
 public:
  LinearSchedule(const LinearOptions& options, int64_t length)
      : start_(options.start_ratio), end_(options.end_ratio), length_(length) {}

  double ValueAt(int64_t update, double base) const override {
    const double part = static_cast<double>(std::min(update, length_)) /
                        static_cast<double>(length_);
    return base * (start_ + (end_ - start_) * part);
  }

 private:
  double start_, end_;
  int64_t length_;
};

}  // namespace

ScheduleFactory Linear(LinearOptions options) {
  kCheck.NotNegative("start_ratio", options.start_ratio);
  kCheck.NotNegative("end_ratio", options.end_ratio);
  if (options.length) kCheck.ResolvablePeriod("length", *options.length);
  return [options](const RunLength& run) -> std::unique_ptr<Schedule> {
    return std::make_unique<LinearSchedule>(
        options, kCheck.PartOrRun("length", options.length, run));
  };
}

}  // namespace trainyard

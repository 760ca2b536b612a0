#include "schedulers/cosine.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/option_check.h"
#include "schedulers/ramp.h"
#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

constexpr OptionCheck kCheck("Cosine");

// In updates since the end of warm-up; cycles need not end on a whole one.
struct Cycle {
  double start;
  double length;
  double peak_ratio;
};

// A cycle meant to start on a whole update does, whatever the division left.
double Snap(double start) {
  const double whole = std::round(start);
  return std::abs(start - whole) < 1e-6 ? whole : start;
}

// `span` updates divided into cycles.
std::vector<Cycle> Divide(int64_t span, const CosineOptions& options) {
  double shares = 0, share = 1;
  for (int i = 0; i < options.cycles; ++i, share *= options.cycle_mul) {
    shares += share;
  }
  std::vector<Cycle> cycles;
  double start = 0, peak_ratio = 1;
  double length = static_cast<double>(span) / shares;
  for (int i = 0; i < options.cycles; ++i) {
    cycles.push_back({Snap(start), length, peak_ratio});
    start += length;
    length *= options.cycle_mul;
    peak_ratio *= options.cycle_decay;
  }
  return cycles;
}

class CosineSchedule final : public Schedule {
 public:
  CosineSchedule(const CosineOptions& options, Level warmup_start, Level min,
                 const RunLength& run)
      : warmup_(kCheck.WithinRun("warmup", options.warmup, run), warmup_start),
        min_(min),
        k_decay_(options.k_decay) {
    const int64_t cooldown =
        kCheck.WithinRun("cooldown", options.cooldown, run);
    kCheck.FitTogether("warmup", options.warmup, "cooldown", options.cooldown,
                       run);
    span_ = kCheck.Total(run) - warmup_.updates() - cooldown;
    if (span_ > 0 && options.cycles > span_) {
      kCheck.Fail("cycles", std::to_string(options.cycles),
                  "more than the " + std::to_string(span_) +
                      " updates between warm-up and cool-down");
    }
    cycles_ = Divide(span_, options);
  }

  double ValueAt(int64_t update, double base) const override {
    if (update < warmup_.updates()) return warmup_.ValueAt(update, base, base);
    const double min = min_.Of(base);
    if (update - warmup_.updates() >= span_) return min;
    const double n = static_cast<double>(update - warmup_.updates());
    size_t i = cycles_.size() - 1;
    while (cycles_[i].start > n) --i;
    const Cycle& cycle = cycles_[i];
    double part = (n - cycle.start) / cycle.length;
    if (k_decay_ != 1) part = std::pow(part, k_decay_);
    return min + 0.5 * (base * cycle.peak_ratio - min) *
                     (1 + std::cos(std::numbers::pi * part));
  }

 private:
  Ramp warmup_;
  Level min_;
  double k_decay_;
  int64_t span_ = 0;
  std::vector<Cycle> cycles_;
};

}  // namespace

ScheduleFactory Cosine(CosineOptions options) {
  kCheck.Resolvable("warmup", options.warmup);
  kCheck.Resolvable("cooldown", options.cooldown);
  const Level start =
      kCheck.ValueOrRatio("warmup_start", options.warmup_start_value,
                          options.warmup_start_ratio, {});
  const Level min =
      kCheck.ValueOrRatio("min", options.min_value, options.min_ratio, {});
  kCheck.Positive("k_decay", options.k_decay);
  kCheck.AtLeast("cycles", options.cycles, 1);
  kCheck.Positive("cycle_mul", options.cycle_mul);
  kCheck.Positive("cycle_decay", options.cycle_decay);
  return [options = std::move(options), start,
          min](const RunLength& run) -> std::unique_ptr<Schedule> {
    return std::make_unique<CosineSchedule>(options, start, min, run);
  };
}

}  // namespace trainyard

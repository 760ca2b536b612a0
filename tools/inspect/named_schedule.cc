#include "tools/inspect/named_schedule.h"

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "schedulers/constant.h"
#include "schedulers/cosine.h"
#include "schedulers/cosine_annealing.h"
#include "schedulers/cyclic.h"
#include "schedulers/exponential.h"
#include "schedulers/inverse_sqrt.h"
#include "schedulers/linear.h"
#include "schedulers/multi_step.h"
#include "schedulers/noam.h"
#include "schedulers/one_cycle.h"
#include "schedulers/polynomial.h"
#include "schedulers/schedule.h"
#include "schedulers/step.h"
#include "schedulers/warm_restarts.h"
#include "schedulers/warmup.h"
#include "schedulers/warmup_stable_decay.h"
#include "tools/cli/settings.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

constexpr Duration kNone{};

// Reads a setting that has one of a few values.
template <typename Enum>
Enum Choice(Settings& s, const std::string& name,
            std::initializer_list<std::pair<const char*, Enum>> choices) {
  const std::string text = s.Text(name, choices.begin()->first);
  std::string all;
  for (const auto& [word, value] : choices) {
    if (text == word) return value;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  throw std::invalid_argument("--" + name + " is '" + text + "', want one of " +
                              all);
}

OneCycleOptions OneCycleFrom(Settings& s) {
  using Shape = OneCycleOptions::Shape;
  const OneCycleOptions standard;
  return {
      .pct_start = s.Number("pct_start", standard.pct_start),
      .shape = Choice<Shape>(
          s, "shape", {{"cosine", Shape::kCosine}, {"linear", Shape::kLinear}}),
      .three_phase = s.Flag("three_phase"),
      .div_factor = s.Number("div_factor", standard.div_factor),
      .final_div_factor =
          s.Number("final_div_factor", standard.final_div_factor),
      .base_momentum = s.Number("base_momentum", standard.base_momentum),
      .max_momentum = s.Number("max_momentum", standard.max_momentum)};
}

struct Entry {
  const char* name;
  // For --help, without warm-up. A star marks a setting in updates or epochs.
  const char* settings;
  bool own_warmup;
  ScheduleFactory (*make)(Settings& s);
};

constexpr Entry kEntries[] = {
    {"constant", "ratio length*", false,
     [](Settings& s) {
       return Constant(
           {.ratio = s.Number("ratio", 1), .length = s.Length("length")});
     }},
    {"cosine",
     "cooldown* min_value min_ratio k_decay cycles cycle_mul cycle_decay", true,
     [](Settings& s) {
       return Cosine(
           {.warmup = s.Length("warmup").value_or(kNone),
            .warmup_start_value = s.OptionalNumber("warmup_start_value"),
            .warmup_start_ratio = s.OptionalNumber("warmup_start_ratio"),
            .cooldown = s.Length("cooldown").value_or(kNone),
            .min_value = s.OptionalNumber("min_value"),
            .min_ratio = s.OptionalNumber("min_ratio"),
            .k_decay = s.Number("k_decay", 1),
            .cycles = static_cast<int>(s.Integer("cycles", 1)),
            .cycle_mul = s.Number("cycle_mul", 1),
            .cycle_decay = s.Number("cycle_decay", 1)});
     }},
    {"cosine_annealing", "half_period* min_value min_ratio", false,
     [](Settings& s) {
       return CosineAnnealing({.half_period = s.Length("half_period"),
                               .min_value = s.OptionalNumber("min_value"),
                               .min_ratio = s.OptionalNumber("min_ratio")});
     }},
    {"cyclic", "peak_value peak_ratio up* down* mode gamma", false,
     [](Settings& s) {
       return Cyclic({.peak_value = s.OptionalNumber("peak_value"),
                      .peak_ratio = s.OptionalNumber("peak_ratio"),
                      .up = s.Length("up").value_or(kNone),
                      .down = s.Length("down"),
                      .mode = Choice<CyclicMode>(
                          s, "mode",
                          {{"triangular", CyclicMode::kTriangular},
                           {"triangular2", CyclicMode::kTriangular2},
                           {"exp_range", CyclicMode::kExpRange}}),
                      .gamma = s.Number("gamma", 1)});
     }},
    {"exponential", "gamma every*", false,
     [](Settings& s) {
       return Exponential({.gamma = s.Number("gamma", 0),
                           .every = s.Length("every").value_or(Updates(1))});
     }},
    {"inverse_sqrt", "timescale*", true,
     [](Settings& s) {
       return InverseSqrt(
           {.warmup = s.Length("warmup").value_or(kNone),
            .warmup_start_value = s.OptionalNumber("warmup_start_value"),
            .warmup_start_ratio = s.OptionalNumber("warmup_start_ratio"),
            .timescale = s.Length("timescale")});
     }},
    {"linear", "start_ratio end_ratio length*", false,
     [](Settings& s) {
       return Linear({.start_ratio = s.Number("start_ratio", 1),
                      .end_ratio = s.Number("end_ratio", 0),
                      .length = s.Length("length")});
     }},
    {"multi_step", "at* gamma", false,
     [](Settings& s) {
       return MultiStep({.at = s.List("at").value_or(Points()),
                         .gamma = s.Number("gamma", 0.1)});
     }},
    {"noam", "d_model", true,
     [](Settings& s) {
       return Noam({.d_model = s.Number("d_model", 0),
                    .warmup = s.Length("warmup").value_or(kNone)});
     }},
    {"one_cycle", "pct_start shape three_phase div_factor final_div_factor",
     false, [](Settings& s) { return OneCycle(OneCycleFrom(s)); }},
    {"one_cycle_momentum",
     "pct_start shape three_phase base_momentum max_momentum", false,
     [](Settings& s) { return OneCycleMomentum(OneCycleFrom(s)); }},
    {"polynomial", "power min_value min_ratio length*", false,
     [](Settings& s) {
       return Polynomial({.power = s.Number("power", 1),
                          .min_value = s.OptionalNumber("min_value"),
                          .min_ratio = s.OptionalNumber("min_ratio"),
                          .length = s.Length("length")});
     }},
    {"step", "every* gamma", false,
     [](Settings& s) {
       return Step({.every = s.Length("every").value_or(kNone),
                    .gamma = s.Number("gamma", 0.1)});
     }},
    {"warm_restarts", "period* period_mul min_value min_ratio", false,
     [](Settings& s) {
       return WarmRestarts(
           {.period = s.Length("period").value_or(kNone),
            .period_mul = static_cast<int>(s.Integer("period_mul", 1)),
            .min_value = s.OptionalNumber("min_value"),
            .min_ratio = s.OptionalNumber("min_ratio")});
     }},
    {"warmup_stable_decay", "decay* shape min_value min_ratio", true,
     [](Settings& s) {
       using Shape = WarmupStableDecayOptions::Shape;
       return WarmupStableDecay(
           {.warmup = s.Length("warmup").value_or(kNone),
            .warmup_start_value = s.OptionalNumber("warmup_start_value"),
            .warmup_start_ratio = s.OptionalNumber("warmup_start_ratio"),
            .decay = s.Length("decay").value_or(kNone),
            .shape = Choice<Shape>(s, "shape",
                                   {{"one_minus_sqrt", Shape::kOneMinusSqrt},
                                    {"linear", Shape::kLinear},
                                    {"cosine", Shape::kCosine}}),
            .min_value = s.OptionalNumber("min_value"),
            .min_ratio = s.OptionalNumber("min_ratio")});
     }},
};

}  // namespace

ScheduleFactory NamedSchedule(const std::string& name, Settings& settings) {
  std::string names;
  for (const Entry& entry : kEntries) {
    names += std::string(" ") + entry.name;
    if (name != entry.name) continue;
    ScheduleFactory make = entry.make(settings);
    const std::optional<Duration> warmup = settings.Length("warmup");
    if (entry.own_warmup || !warmup) return make;
    return Warmup(
        {.length = *warmup,
         .start_value = settings.OptionalNumber("warmup_start_value"),
         .start_ratio = settings.OptionalNumber("warmup_start_ratio")},
        std::move(make));
  }
  throw std::invalid_argument("--schedule is '" + name + "', want one of" +
                              names);
}

std::string DescribeSchedules() {
  std::string text;
  for (const Entry& entry : kEntries) {
    std::string line = "  " + std::string(entry.name);
    line.resize(24, ' ');
    text += line + entry.settings + "\n";
  }
  return text;
}

}  // namespace trainyard

// OptionCheck checks the options of a schedule, converts durations to updates,
// and words the errors.
//
//   const OptionCheck check("Cosine");
//   check.Positive("k_decay", options.k_decay);           // as soon as given
//   int64_t warmup = check.Updates("warmup", options.warmup, run);  // in a run
//
// Every function throws std::invalid_argument for an invalid option, such as
// "Cosine: k_decay is -1, want more than 0".
//
// Thread-safe: immutable.
#ifndef TRAINYARD_SCHEDULERS_OPTION_CHECK_H_
#define TRAINYARD_SCHEDULERS_OPTION_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {

// A level given as a value or as a ratio of the group's configured value; one
// of the two is 0.
struct Level {
  double value = 0;
  double ratio = 0;

  double Of(double base) const { return value + ratio * base; }
};

class OptionCheck {
 public:
  // Borrows the name, which should be a literal.
  constexpr explicit OptionCheck(const char* schedule) : schedule_(schedule) {}

  void Finite(const char* field, double value) const;
  void Positive(const char* field, double value) const;
  void NotNegative(const char* field, double value) const;
  void AtLeast(const char* field, double value, double least) const;
  void Between(const char* field, double value, double least,
               double most) const;

  // Throws for units other than updates and epochs, which cannot be converted
  // to updates.
  void Resolvable(const char* field, Duration duration) const;
  // Like Resolvable, and throws for zero.
  void ResolvablePeriod(const char* field, Duration duration) const;

  // The options `<name>_value` and `<name>_ratio`. Throws if both are set, or
  // one is negative. Returns `otherwise` if both are unset.
  Level ValueOrRatio(const char* name, std::optional<double> value,
                     std::optional<double> ratio, Level otherwise) const;

  // `duration` in updates, fractions of an epoch rounded to the nearest.
  int64_t Updates(const char* field, Duration duration,
                  const RunLength& run) const;
  // Like Updates, and throws for less than one.
  int64_t Period(const char* field, Duration duration,
                 const RunLength& run) const;
  // Like Updates, and throws if it is longer than a run of known length.
  int64_t WithinRun(const char* field, Duration duration,
                    const RunLength& run) const;
  // At least one update within the run. Unset: the whole run.
  int64_t PartOrRun(const char* field, std::optional<Duration> duration,
                    const RunLength& run) const;
  // The rest of the run after a first part. Throws if there is none.
  RunLength Rest(const char* field, Duration first, const RunLength& run) const;
  // Throws if two parts together are longer than the run.
  void FitTogether(const char* first_field, Duration first,
                   const char* second_field, Duration second,
                   const RunLength& run) const;
  // The run's updates, which must be known.
  int64_t Total(const RunLength& run) const;

  // Throws "<schedule>: <field> is <value>, <problem>".
  [[noreturn]] void Fail(const char* field, const std::string& value,
                         const std::string& problem) const;
  // Throws "<schedule>: <problem>".
  [[noreturn]] void Fail(const std::string& problem) const;

  // A number as messages show it.
  static std::string Show(double value);

 private:
  const char* schedule_;
};

// The length of a part of `run` with `updates` updates, for the schedule of
// that part.
RunLength PartOf(const RunLength& run, int64_t updates);

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_OPTION_CHECK_H_

#include "schedulers/option_check.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

#include "schedulers/schedule.h"
#include "trainer/train_unit.h"

namespace trainyard {
namespace {

// "1 epoch (469 updates)", or "500 updates".
std::string InUpdates(Duration duration, int64_t updates) {
  std::string text = ToString(duration);
  if (duration.unit != TrainUnit::kUpdates) {
    text += " (" + std::to_string(updates) + " updates)";
  }
  return text;
}

std::string OfTheRun(const RunLength& run) {
  return "longer than the run of " + std::to_string(*run.total_updates) +
         " updates";
}

}  // namespace

void OptionCheck::Finite(const char* field, double value) const {
  if (!std::isfinite(value)) Fail(field, Show(value), "want a number");
}

void OptionCheck::Positive(const char* field, double value) const {
  Finite(field, value);
  if (value <= 0) Fail(field, Show(value), "want more than 0");
}

void OptionCheck::NotNegative(const char* field, double value) const {
  AtLeast(field, value, 0);
}

void OptionCheck::AtLeast(const char* field, double value, double least) const {
  Finite(field, value);
  if (value < least) {
    Fail(field, Show(value), "want at least " + Show(least));
  }
}

void OptionCheck::Between(const char* field, double value, double least,
                          double most) const {
  Finite(field, value);
  if (value < least || value > most) {
    Fail(field, Show(value), "want " + Show(least) + " to " + Show(most));
  }
}

void OptionCheck::Resolvable(const char* field, Duration duration) const {
  if (duration.unit != TrainUnit::kUpdates &&
      duration.unit != TrainUnit::kEpochs) {
    Fail(field, ToString(duration), "want updates or epochs");
  }
}

void OptionCheck::ResolvablePeriod(const char* field, Duration duration) const {
  Resolvable(field, duration);
  if (duration.amount <= 0) Fail(field, ToString(duration), "want more than 0");
}

Level OptionCheck::ValueOrRatio(const char* name, std::optional<double> value,
                                std::optional<double> ratio,
                                Level otherwise) const {
  const std::string value_field = std::string(name) + "_value";
  const std::string ratio_field = std::string(name) + "_ratio";
  if (value && ratio) {
    Fail("both " + value_field + " (" + Show(*value) + ") and " + ratio_field +
         " (" + Show(*ratio) + ") are set, want one");
  }
  if (value) {
    NotNegative(value_field.c_str(), *value);
    return {.value = *value};
  }
  if (ratio) {
    NotNegative(ratio_field.c_str(), *ratio);
    return {.ratio = *ratio};
  }
  return otherwise;
}

int64_t OptionCheck::Updates(const char* field, Duration duration,
                             const RunLength& run) const {
  Resolvable(field, duration);
  if (duration.unit == TrainUnit::kUpdates) {
    return static_cast<int64_t>(duration.amount);
  }
  if (!run.updates_per_epoch) {
    Fail(field, ToString(duration),
         "but the run does not know its updates per epoch");
  }
  return std::llround(duration.amount *
                      static_cast<double>(*run.updates_per_epoch));
}

int64_t OptionCheck::Period(const char* field, Duration duration,
                            const RunLength& run) const {
  const int64_t updates = Updates(field, duration, run);
  if (updates < 1) {
    Fail(field, ToString(duration),
         "less than one of the " + std::to_string(*run.updates_per_epoch) +
             " updates of an epoch");
  }
  return updates;
}

int64_t OptionCheck::WithinRun(const char* field, Duration duration,
                               const RunLength& run) const {
  const int64_t updates = Updates(field, duration, run);
  if (run.total_updates && updates > *run.total_updates) {
    Fail(field, InUpdates(duration, updates), OfTheRun(run));
  }
  return updates;
}

int64_t OptionCheck::PartOrRun(const char* field,
                               std::optional<Duration> duration,
                               const RunLength& run) const {
  if (!duration) return Total(run);
  Period(field, *duration, run);
  return WithinRun(field, *duration, run);
}

RunLength OptionCheck::Rest(const char* field, Duration first,
                            const RunLength& run) const {
  const int64_t updates = WithinRun(field, first, run);
  if (!run.total_updates) return run;  // and the rest is unknown, too
  if (updates == run.total_updates) {
    Fail(field, InUpdates(first, updates),
         "which leaves nothing of the " + std::to_string(updates) + " updates");
  }
  return PartOf(run, *run.total_updates - updates);
}

void OptionCheck::FitTogether(const char* first_field, Duration first,
                              const char* second_field, Duration second,
                              const RunLength& run) const {
  const int64_t first_updates = Updates(first_field, first, run);
  const int64_t second_updates = Updates(second_field, second, run);
  if (first_updates + second_updates > Total(run)) {
    Fail(std::string(first_field) + " of " + InUpdates(first, first_updates) +
         " and " + second_field + " of " + InUpdates(second, second_updates) +
         " are together " + OfTheRun(run));
  }
}

int64_t OptionCheck::Total(const RunLength& run) const {
  if (!run.total_updates) Fail("the run's total_updates is unknown");
  AtLeast("the run's total_updates", static_cast<double>(*run.total_updates),
          1);
  return *run.total_updates;
}

void OptionCheck::Fail(const char* field, const std::string& value,
                       const std::string& problem) const {
  Fail(std::string(field) + " is " + value + ", " + problem);
}

void OptionCheck::Fail(const std::string& problem) const {
  throw std::invalid_argument(std::string(schedule_) + ": " + problem);
}

std::string OptionCheck::Show(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.10g", value);
  return text;
}

RunLength PartOf(const RunLength& run, int64_t updates) {
  RunLength part = run;
  part.total_updates = updates;
  if (const auto per_epoch = run.updates_per_epoch) {
    part.num_epochs = (updates + *per_epoch - 1) / *per_epoch;
  }
  return part;
}

}  // namespace trainyard

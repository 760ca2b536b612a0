#include "trainer/train_unit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

std::string Number(double value) {
  char text[32];
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.10g", value);
  return text;
}

// The name of the function that makes this unit, for messages.
std::string Maker(TrainUnit unit) {
  std::string name = ToString(unit);
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

Duration MakeDuration(TrainUnit unit, double amount) {
  if (!std::isfinite(amount) || amount < 0) {
    throw std::invalid_argument(Maker(unit) + ": the amount is " +
                                Number(amount) + ", want at least 0");
  }
  return {.unit = unit, .amount = amount};
}

Duration MakeWhole(TrainUnit unit, double amount) {
  if (amount != std::floor(amount)) {
    throw std::invalid_argument(Maker(unit) + ": the amount is " +
                                Number(amount) + ", want a whole number");
  }
  return MakeDuration(unit, amount);
}

Points MakeWhole(TrainUnit unit, const std::vector<int64_t>& points) {
  return Points(unit, {points.begin(), points.end()});
}

// Epochs are complete or not: half of one is never due.
void CheckWhole(const char* maker, TrainUnit unit, double amount) {
  if (unit == TrainUnit::kEpochs && amount != std::floor(amount)) {
    throw std::invalid_argument(
        std::string(maker) + ": " + Number(amount) +
        " epochs is not a whole number, and epochs are due at their ends");
  }
}

}  // namespace

Points::Points(TrainUnit points_unit, std::vector<double> points)
    : unit(points_unit), amounts(std::move(points)) {
  if (amounts.empty()) {
    throw std::invalid_argument(Maker(unit) + ": the list of points is empty");
  }
  for (const double amount : amounts) {
    if (!std::isfinite(amount) || amount <= 0) {
      throw std::invalid_argument(Maker(unit) + ": a point is " +
                                  Number(amount) + ", want more than 0");
    }
  }
  std::sort(amounts.begin(), amounts.end());
}

Points::Points(Duration point) : Points(point.unit, {point.amount}) {}

Duration Batches(double amount) {
  return MakeWhole(TrainUnit::kBatches, amount);
}
Duration Updates(double amount) {
  return MakeWhole(TrainUnit::kUpdates, amount);
}
Duration Samples(double amount) {
  return MakeWhole(TrainUnit::kSamples, amount);
}
Duration Epochs(double amount) {
  return MakeDuration(TrainUnit::kEpochs, amount);
}
Duration Seconds(double amount) {
  return MakeDuration(TrainUnit::kSeconds, amount);
}

Points Batches(std::vector<int64_t> points) {
  return MakeWhole(TrainUnit::kBatches, points);
}
Points Updates(std::vector<int64_t> points) {
  return MakeWhole(TrainUnit::kUpdates, points);
}
Points Samples(std::vector<int64_t> points) {
  return MakeWhole(TrainUnit::kSamples, points);
}
Points Epochs(std::vector<double> points) {
  return {TrainUnit::kEpochs, std::move(points)};
}
Points Seconds(std::vector<double> points) {
  return {TrainUnit::kSeconds, std::move(points)};
}

bool Period::uses_seconds() const {
  return when_ != nullptr ||
         (every_.amount > 0 ? every_.unit : at_.unit) == TrainUnit::kSeconds;
}

bool Period::Due(const Progress& previous, const Progress& current) const {
  if (when_ != nullptr) return current != previous && (*when_)(current);
  if (every_.amount > 0) {
    const double before =
        std::floor(AmountOf(previous, every_.unit) / every_.amount);
    const double now =
        std::floor(AmountOf(current, every_.unit) / every_.amount);
    return now > before;
  }
  const auto next = std::upper_bound(at_.amounts.begin(), at_.amounts.end(),
                                     AmountOf(previous, at_.unit));
  return next != at_.amounts.end() && *next <= AmountOf(current, at_.unit);
}

Period Every(Duration length) {
  if (length.amount <= 0) {
    throw std::invalid_argument("Every: the period is " + ToString(length) +
                                ", want more than 0");
  }
  CheckWhole("Every", length.unit, length.amount);
  Period period;
  period.every_ = length;
  return period;
}

Period At(Points points) {
  if (points.amounts.empty()) {
    throw std::invalid_argument("At: the list of points is empty");
  }
  for (const double amount : points.amounts) {
    CheckWhole("At", points.unit, amount);
  }
  Period period;
  period.at_ = std::move(points);
  return period;
}

Period When(std::function<bool(const Progress& now)> due) {
  if (due == nullptr) {
    throw std::invalid_argument("When: there is no function");
  }
  Period period;
  period.when_ =
      std::make_shared<const std::function<bool(const Progress& now)>>(
          std::move(due));
  return period;
}

Period Never() { return Period(); }

double AmountOf(const Progress& progress, TrainUnit unit) {
  switch (unit) {
    case TrainUnit::kBatches:
      return static_cast<double>(progress.batches);
    case TrainUnit::kUpdates:
      return static_cast<double>(progress.updates);
    case TrainUnit::kSamples:
      return static_cast<double>(progress.samples);
    case TrainUnit::kEpochs:
      return static_cast<double>(progress.epochs);
    case TrainUnit::kSeconds:
      return progress.seconds;
  }
  return 0;
}

bool Reached(const Progress& progress, Duration length) {
  return AmountOf(progress, length.unit) >= length.amount;
}

std::string ToString(TrainUnit unit) {
  switch (unit) {
    case TrainUnit::kBatches:
      return "batches";
    case TrainUnit::kUpdates:
      return "updates";
    case TrainUnit::kSamples:
      return "samples";
    case TrainUnit::kEpochs:
      return "epochs";
    case TrainUnit::kSeconds:
      return "seconds";
  }
  return "unknown units";
}

std::string ToString(Duration duration) {
  if (duration.amount == 1) {
    if (duration.unit == TrainUnit::kBatches) return "1 batch";
    std::string unit = ToString(duration.unit);
    unit.pop_back();
    return "1 " + unit;
  }
  return Number(duration.amount) + " " + ToString(duration.unit);
}

std::string ToString(const Points& points) {
  std::string text = ToString(points.unit);
  const char* separator = " ";
  for (const double amount : points.amounts) {
    text += separator + Number(amount);
    separator = ", ";
  }
  return text;
}

std::string ToString(const Period& period) {
  if (period.never()) return "never";
  if (period.when_ != nullptr) return "when a function says so";
  if (period.every_.amount > 0) return "every " + ToString(period.every_);
  return "at " + ToString(period.at_);
}

}  // namespace trainyard

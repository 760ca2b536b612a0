#include "callbacks/weights/lr_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace trainyard {
namespace {

constexpr size_t kTableRows = 20;
constexpr double kBarWidth = 40;

void Require(bool holds, const char* option, double value, const char* wanted) {
  if (holds) return;
  std::array<char, 128> text;
  std::snprintf(text.data(), text.size(), "LearningRateFinder: %s is %g; %s",
                option, value, wanted);
  throw std::invalid_argument(text.data());
}

}  // namespace

LrCurve::LrCurve(LrCurveOptions options) : options_(options) {
  const auto& o = options_;
  Require(o.min_lr > 0 && std::isfinite(o.min_lr), "min_lr", o.min_lr,
          "it must be positive");
  Require(o.max_lr > o.min_lr && std::isfinite(o.max_lr), "max_lr", o.max_lr,
          "it must be greater than min_lr");
  Require(o.updates >= 2, "updates", static_cast<double>(o.updates),
          "it must be at least 2");
  Require(o.smoothing >= 0 && o.smoothing < 1, "smoothing", o.smoothing,
          "it must be at least 0 and less than 1");
  Require(o.diverged > 1, "diverged", o.diverged, "it must be more than 1");
}

double LrCurve::next_lr() const {
  const double part =
      static_cast<double>(size()) / static_cast<double>(options_.updates - 1);
  if (options_.spacing == LrCurveOptions::Spacing::kLinear) {
    return options_.min_lr + part * (options_.max_lr - options_.min_lr);
  }
  return options_.min_lr * std::pow(options_.max_lr / options_.min_lr, part);
}

void LrCurve::Add(double loss) {
  const double keep = options_.smoothing;
  mean_ = keep * mean_ + (1 - keep) * loss;
  const double smoothed =
      mean_ / (1 - std::pow(keep, static_cast<double>(size() + 1)));
  diverged_ =
      !std::isfinite(smoothed) ||
      (size() > 0 && lowest_ > 0 && smoothed > options_.diverged * lowest_);
  lowest_ = points_.empty() ? smoothed : std::min(lowest_, smoothed);
  points_.push_back({next_lr(), loss, smoothed});
}

// The mean of each loss and its neighbours on both sides: one of the past only
// would lag behind, and suggest too high a rate.
std::vector<double> LrCurve::Centred() const {
  std::vector<double> means;
  for (size_t i = 0; i < points_.size(); ++i) {
    double sum = 0, weights = 0;
    for (size_t j = 0; j < points_.size(); ++j) {
      if (!std::isfinite(points_[j].loss)) continue;
      const auto distance = static_cast<double>(i > j ? i - j : j - i);
      const double weight = std::pow(options_.smoothing, distance);
      sum += weight * points_[j].loss;
      weights += weight;
    }
    means.push_back(weights > 0 ? sum / weights : 0);
  }
  return means;
}

std::optional<size_t> LrCurve::SteepestPoint() const {
  const bool linear = options_.spacing == LrCurveOptions::Spacing::kLinear;
  const auto x = [&](size_t i) {
    return linear ? points_[i].lr : std::log(points_[i].lr);
  };
  const std::vector<double> losses = Centred();
  // Beyond the lowest the loss may fall again, from where it was blown up to.
  const auto lowest = static_cast<size_t>(
      std::min_element(losses.begin(), losses.end()) - losses.begin());
  std::optional<size_t> steepest;
  // Less is rounding.
  double slope = losses.empty() ? 0 : -1e-6 * std::abs(losses[0]);
  for (size_t i = 1; i + 1 < losses.size() && i <= lowest; ++i) {
    const double here = (losses[i + 1] - losses[i - 1]) / (x(i + 1) - x(i - 1));
    if (!(here < slope)) continue;
    slope = here;
    steepest = i;
  }
  return steepest;
}

std::optional<double> LrCurve::suggestion() const {
  const std::optional<size_t> steepest = SteepestPoint();
  if (!steepest) return std::nullopt;
  return points_[*steepest].lr;
}

std::string LrCurve::Csv() const {
  std::string text = "lr,loss,smoothed\n";
  for (const Point& point : points_) {
    std::array<char, 96> line;
    std::snprintf(line.data(), line.size(), "%.9g,%.9g,%.9g\n", point.lr,
                  point.loss, point.smoothed);
    text += line.data();
  }
  return text;
}

std::string LrCurve::Table() const {
  std::string text = "       lr        loss    smoothed\n";
  const std::optional<size_t> steepest = SteepestPoint();
  // Bars stand for what the curve looks like before it diverges.
  double low = 0, high = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    const double value = points_[i].smoothed;
    if (!std::isfinite(value)) continue;
    low = i == 0 ? value : std::min(low, value);
    if (i == 0) high = value;
  }
  high = std::max(high, low + 1e-12);
  const size_t step =
      std::max<size_t>(1, (points_.size() + kTableRows - 1) / kTableRows);
  for (size_t i = 0; i < points_.size(); ++i) {
    if (i % step != 0 && i != steepest && i + 1 != points_.size()) continue;
    const Point& point = points_[i];
    const double share = (point.smoothed - low) / (high - low);
    const auto bar = static_cast<size_t>(
        std::isfinite(share) ? std::clamp(share, 0.0, 1.0) * kBarWidth
                             : kBarWidth);
    std::array<char, 96> line;
    std::snprintf(line.data(), line.size(), "%9.3g  %10.4g  %10.4g  ", point.lr,
                  point.loss, point.smoothed);
    text += line.data() + std::string(bar, '#') +
            (i == steepest ? " <- steepest\n" : "\n");
  }
  return text;
}

}  // namespace trainyard

// LrCurve is the loss as a function of a growing learning rate. It suggests a
// learning rate. Free of libtorch.
//
//   LrCurve curve({.min_lr = 1e-5, .max_lr = 1, .updates = 50});
//   while (!curve.done()) curve.Add(Train(curve.next_lr()));
//   curve.suggestion();      // where the loss falls fastest
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_WEIGHTS_LR_CURVE_H_
#define TRAINYARD_CALLBACKS_WEIGHTS_LR_CURVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct LrCurveOptions {
  enum class Spacing { kExponential, kLinear };

  // The range. REQUIRES: 0 < min_lr < max_lr.
  double min_lr = 1e-7;
  double max_lr = 10;
  // Points of the range, both ends included. REQUIRES: >= 2.
  int64_t updates = 100;
  Spacing spacing = Spacing::kExponential;
  // The weight of earlier losses in the smoothed loss. REQUIRES: 0 <= smoothing
  // < 1.
  double smoothing = 0.8;
  // The curve ends when the smoothed loss is more than this many times the
  // lowest one, or is not finite. REQUIRES: > 1.
  double diverged = 4;
};

class LrCurve {
 public:
  struct Point {
    double lr;
    double loss;
    double smoothed;
  };

  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit LrCurve(LrCurveOptions options = {});

  // REQUIRES: not done.
  double next_lr() const;
  void Add(double loss);

  // Whether the end of the range was reached, or the loss diverged.
  bool done() const { return diverged_ || size() == options_.updates; }
  bool diverged() const { return diverged_; }

  const std::vector<Point>& points() const { return points_; }

  // The rate at which the loss falls fastest on its way to the lowest, by the
  // logarithm of the rate (or the rate itself, if the spacing is linear);
  // smoothed to both sides alike. None if there are too few points, or the loss
  // never fell.
  std::optional<double> suggestion() const;

  // "lr,loss,smoothed" and a line per point.
  std::string Csv() const;
  // A table for people: at most 20 of the points, with a bar for the loss.
  std::string Table() const;

 private:
  int64_t size() const { return static_cast<int64_t>(points_.size()); }
  std::vector<double> Centred() const;
  std::optional<size_t> SteepestPoint() const;

  LrCurveOptions options_;
  std::vector<Point> points_;
  double mean_ = 0;  // biased towards 0 by the first points
  double lowest_ = 0;
  bool diverged_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_WEIGHTS_LR_CURVE_H_

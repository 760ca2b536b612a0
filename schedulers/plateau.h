// Plateau multiplies the value by a factor whenever a metric has stopped
// improving.
//
//   Plateau plateau({.factor = 0.5, .patience = 2});
//   plateau.Observe(eval_loss);                       // after each evaluation
//   const double lr = plateau.ValueAt(update, 3e-3);  // before each update
//
// The trainer passes it a metric of each evaluation, by default "eval_loss", if
// TrainOptions::schedule is OnPlateau(). Unlike other schedules it depends on
// what it observed, so its state is saved.
//
// Thread-compatible.
#ifndef TRAINYARD_SCHEDULERS_PLATEAU_H_
#define TRAINYARD_SCHEDULERS_PLATEAU_H_

#include <cstdint>
#include <optional>

#include "schedulers/metric_schedule.h"
#include "schedulers/option_check.h"
#include "schedulers/schedule.h"
#include "trainer/better.h"
#include "trainer/state.h"

namespace trainyard {

struct PlateauOptions {
  enum class Threshold { kRelative, kAbsolute };

  Better better = Better::kLower;
  // What the value is multiplied by. REQUIRES: more than 0, less than 1.
  double factor = 0.1;
  // Observations without improvement that are accepted; after one more the
  // value falls. REQUIRES: >= 0.
  int patience = 10;
  // The least improvement that counts, as a ratio of the best or as an amount.
  // REQUIRES: >= 0.
  double threshold = 1e-4;
  Threshold threshold_mode = Threshold::kRelative;
  // Observations after a fall that do not count. REQUIRES: >= 0.
  int cooldown = 0;
  // As a value or a ratio of the configured value. 0 if both are unset.
  // REQUIRES: >= 0, at most one set.
  std::optional<double> min_value = std::nullopt;
  std::optional<double> min_ratio = std::nullopt;
  // A fall by this much or less is not made. REQUIRES: >= 0.
  double epsilon = 1e-8;
};

// The state of a Plateau.
struct PlateauState {
  // Unset until the first observation.
  std::optional<double> best = std::nullopt;
  int64_t bad_observations = 0;
  int64_t cooldown_left = 0;
  int64_t falls = 0;

  friend bool operator==(const PlateauState&, const PlateauState&) = default;
};

class Plateau final : public MetricSchedule {
 public:
  // Throws std::invalid_argument, naming the option, for an invalid one.
  explicit Plateau(PlateauOptions options = {});

  // NaN is not an improvement.
  void Observe(double metric) override;

  // The same for every update between two observations.
  double ValueAt(int64_t update, double base) const override;

  const PlateauState& state() const { return state_; }
  // Throws std::invalid_argument for negative counts.
  void Restore(const PlateauState& state);

  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  bool IsBetter(double metric) const;

  PlateauOptions options_;
  Level min_;
  PlateauState state_;
};

// A Plateau for each run. Throws as its constructor.
ScheduleFactory OnPlateau(const PlateauOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_SCHEDULERS_PLATEAU_H_

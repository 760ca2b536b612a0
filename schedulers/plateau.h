// A fall by a ratio whenever a metric has stopped improving.
//
//   Plateau plateau({.factor = 0.5, .patience = 2});
//   plateau.Observe(eval_loss);                   // after each evaluation
//   const double lr = plateau.ValueAt(update, 3e-3);  // before each update
//
// The trainer shows it a metric of each evaluation by itself:
//
//   TrainOptions{.schedule = OnPlateau({.factor = 0.5})};
//
// The one schedule that is no function of the update: it falls with what it was
// shown, so that its state must be saved.
//
// Thread-compatible: one thread observes and asks.
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
  // How many observations without improvement are borne; the next one falls.
  // REQUIRES: >= 0.
  int patience = 10;
  // The least improvement that counts, as a ratio of the best or as an amount.
  // REQUIRES: >= 0.
  double threshold = 1e-4;
  Threshold threshold_mode = Threshold::kRelative;
  // Observations after a fall that are not judged. REQUIRES: >= 0.
  int cooldown = 0;
  // As a value or a ratio of the configured value. 0 if neither is set.
  // REQUIRES: >= 0, at most one set.
  std::optional<double> min_value = std::nullopt;
  std::optional<double> min_ratio = std::nullopt;
  // A fall by no more than this is not made. REQUIRES: >= 0.
  double epsilon = 1e-8;
};

// All that changes in a Plateau.
struct PlateauState {
  // Absent until the first observation.
  std::optional<double> best = std::nullopt;
  int64_t bad_observations = 0;
  int64_t cooldown_left = 0;
  int64_t falls = 0;

  friend bool operator==(const PlateauState&, const PlateauState&) = default;
};

class Plateau final : public MetricSchedule {
 public:
  // Throws std::invalid_argument naming the option that is wrong.
  explicit Plateau(PlateauOptions options = {});

  // What is not a number is no improvement.
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

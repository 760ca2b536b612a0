// The one clock of periods and lengths: how far a run has come (Progress), how
// long something lasts (Duration) and when something is due (Period).
//
//   const Period save = Every(Epochs(1)), look = At(Batches({1, 5, 10}));
//   const Period report = Never();
//   const Period evaluate = When([](const Progress& now) {
//     return std::has_single_bit(static_cast<uint64_t>(now.updates));
//   });
//   const Progress previous{.batches = 4}, current{.batches = 5};
//   look.Due(previous, current);  // true
//
// A period is due when progress crosses one of its points. The answer depends
// on the two points of progress only, so nothing has to be saved with a
// checkpoint, and a period may be asked after every batch or after every tenth.
//
// Thread-safe: value types.
#ifndef TRAINYARD_TRAINER_TRAIN_UNIT_H_
#define TRAINYARD_TRAINER_TRAIN_UNIT_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace trainyard {

enum class TrainUnit { kBatches, kUpdates, kSamples, kEpochs, kSeconds };

// What a run has completed since its start, earlier parts of a resumed run
// included.
struct Progress {
  int64_t batches = 0;  // since the start of the run, not of the epoch
  int64_t updates = 0;  // optimizer steps
  int64_t samples = 0;  // over all ranks
  int64_t epochs = 0;   // rises only at the end of an epoch
  double seconds = 0;

  friend bool operator==(const Progress&, const Progress&) = default;
};

// An amount of one unit, never negative; zero updates by default.
struct Duration {
  TrainUnit unit = TrainUnit::kUpdates;
  double amount = 0;

  friend bool operator==(const Duration&, const Duration&) = default;
};

// Moments of a run in one unit, ascending and positive; none by default.
struct Points {
  Points() = default;
  // In any order; equal ones are kept. Throws std::invalid_argument for a point
  // that is not positive, since nothing happens before the first batch, and for
  // an empty list.
  Points(TrainUnit unit, std::vector<double> amounts);
  Points(Duration point);  // NOLINT: one point is a list of one

  TrainUnit unit = TrainUnit::kUpdates;
  std::vector<double> amounts;

  friend bool operator==(const Points&, const Points&) = default;
};

// Each throws std::invalid_argument for an amount that is negative or not
// finite, and the first three for one that is not whole.
Duration Batches(double amount);
Duration Updates(double amount);
Duration Samples(double amount);
Duration Epochs(double amount);
Duration Seconds(double amount);

Points Batches(std::vector<int64_t> points);
Points Updates(std::vector<int64_t> points);
Points Samples(std::vector<int64_t> points);
Points Epochs(std::vector<double> points);
Points Seconds(std::vector<double> points);

// The same of a list in braces, also of one point.
inline Points Batches(std::initializer_list<int64_t> points) {
  return Batches(std::vector<int64_t>(points));
}
inline Points Updates(std::initializer_list<int64_t> points) {
  return Updates(std::vector<int64_t>(points));
}
inline Points Samples(std::initializer_list<int64_t> points) {
  return Samples(std::vector<int64_t>(points));
}
inline Points Epochs(std::initializer_list<double> points) {
  return Epochs(std::vector<double>(points));
}
inline Points Seconds(std::initializer_list<double> points) {
  return Seconds(std::vector<double>(points));
}

// When something is due. Every, At, When and Never make one.
class Period {
 public:
  // Whether progress from `previous` (exclusive) to `current` (inclusive)
  // crosses a point of this period; several crossed at once count as one. Never
  // at the start of a run, and never twice at one point, since no progress
  // crosses nothing. Epochs count when they are complete: due on an epoch's
  // last batch only.
  bool Due(const Progress& previous, const Progress& current) const;

  bool never() const {
    return every_.amount == 0 && at_.amounts.empty() && when_ == nullptr;
  }

  // Whether the answer can depend on seconds: on those of a unit, or on those
  // that a function of When reads. Several ranks must agree on them first.
  bool uses_seconds() const;

  // Functions are equal if one period is a copy of the other.
  friend bool operator==(const Period&, const Period&) = default;

 private:
  Period() = default;

  friend Period Every(Duration length);
  friend Period At(Points points);
  friend Period When(std::function<bool(const Progress& now)> due);
  friend Period Never();
  friend std::string ToString(const Period& period);

  Duration every_;  // zero: not repeated
  Points at_;
  // Shared, so that copies can be compared. Null: not a function.
  std::shared_ptr<const std::function<bool(const Progress& now)>> when_;
};

// Due at every multiple of `length`. Throws std::invalid_argument when that is
// zero, or a number of epochs that is not whole.
Period Every(Duration length);

// Due at these points only. Throws std::invalid_argument for epochs that are
// not whole.
Period At(Points points);

// Due after every batch for whose progress the function returns true. At the
// end of an epoch the epoch is counted before the function is called. REQUIRES:
// the function depends on nothing else, so that it returns the same on all
// ranks and when it is called again. Throws std::invalid_argument for an empty
// function.
Period When(std::function<bool(const Progress& now)> due);

Period Never();

// The count of `unit` in `progress`.
double AmountOf(const Progress& progress, TrainUnit unit);

// Whether `progress` has come as far as `length`.
bool Reached(const Progress& progress, Duration length);

// "updates"; "100 batches", "1 epoch"; "every 2 epochs", "at batches 1, 5, 10",
// "when a function says so", "never".
std::string ToString(TrainUnit unit);
std::string ToString(Duration duration);
std::string ToString(const Points& points);
std::string ToString(const Period& period);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TRAIN_UNIT_H_

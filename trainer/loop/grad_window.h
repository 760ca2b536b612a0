// GradWindow normalises the gradient of an accumulation window by the weight of
// all its records (samples or tokens), however they are split into batches: the
// gradient is that of the mean over the window, as if it had been one batch.
//
//   window.Start(/*batches=*/4);
//   backend.Backward(loss, {.share = window.Add(weight)});   // once per batch
//   backend.Update(optimizer, {.divisor = window.divisor()});
//
// Over several processes all take their shares of one reference weight, and
// divide by the mean of their totals:
//
//   const double share = window.Add(weight, backend.ReferenceWeight(weight));
//   backend.Backward(loss, {.share = share, .weight = window.total()});
//   const double divisor = window.divisor(backend.FinishGradients(optimizer));
//
// Each batch gets a share that would be right if all weighed like the first;
// the divisor puts right what was not so. Windows of equal batches, the common
// case, have a divisor of exactly 1, and numbers stay near 1, so that half
// precision does not overflow.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_GRAD_WINDOW_H_
#define TRAINYARD_TRAINER_LOOP_GRAD_WINDOW_H_

#include <cstdint>

#include "trainer/state.h"

namespace trainyard {

class GradWindow final : public Stateful {
 public:
  // Begins a window that will have this many batches. REQUIRES: >= 1.
  void Start(int64_t batches) {
    batches_ = batches;
    expected_ = 0;
    total_ = 0;
  }

  // Counts a batch in and returns its share of the window's loss. REQUIRES:
  // weight > 0.
  double Add(double weight) { return Add(weight, weight); }

  // The same, if the batches are expected to weigh like `reference`. REQUIRES:
  // reference > 0; weight >= 0, 0 for a batch that this process does not have.
  double Add(double weight, double reference) {
    if (expected_ == 0) expected_ = reference * static_cast<double>(batches_);
    total_ += weight;
    return weight / expected_;
  }

  // The weight of the batches so far.
  double total() const { return total_; }
  bool empty() const { return expected_ == 0; }

  // What the sum of the shared gradients is to be divided by. 1 before any
  // batch.
  double divisor() const { return divisor(total_); }
  // The same, if the batches of all processes weigh `total` in the mean.
  double divisor(double total) const {
    return expected_ == 0 ? 1 : total / expected_;
  }

  // For a run that is saved within a window.
  State SaveState() const override {
    State state;
    state.Set("batches", batches_);
    state.Set("expected", expected_);
    state.Set("total", total_);
    return state;
  }
  void LoadState(const State& state) override {
    state.CheckVersion(1);
    const auto batches = state.Get<int64_t>("batches");
    const auto expected = state.Get<double>("expected");
    total_ = state.Get<double>("total");
    batches_ = batches;
    expected_ = expected;
  }

 private:
  int64_t batches_ = 1;
  double expected_ = 0;
  double total_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_GRAD_WINDOW_H_

// GradWindow normalises the gradient of an accumulation window by the weight of
// all its records (samples or tokens), however they are split into batches: the
// gradient is that of the mean over the window, as if it had been one batch.
//
//   window.Start(/*batches=*/4);
//   backend.Backward(loss, window.Add(weight));       // once per batch
//   backend.Update(optimizer, {.divisor = window.divisor()});
//
// Each batch gets a share that would be right if all weighed like the first;
// the divisor puts right what was not so. Windows of equal batches, the common
// case, have a divisor of exactly 1, and numbers stay near 1, so that half
// precision does not overflow.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_GRAD_WINDOW_H_
#define TRAINYARD_TRAINER_GRAD_WINDOW_H_

#include <cstdint>

namespace trainyard {

class GradWindow {
 public:
  // Begins a window that will have this many batches. REQUIRES: >= 1.
  void Start(int64_t batches) {
    batches_ = batches;
    expected_ = 0;
    total_ = 0;
  }

  // Counts a batch in and returns its share of the window's loss. REQUIRES:
  // weight > 0.
  double Add(double weight) {
    if (total_ == 0) expected_ = weight * static_cast<double>(batches_);
    total_ += weight;
    return weight / expected_;
  }

  // What the sum of the shared gradients is to be divided by. 1 before any
  // batch.
  double divisor() const { return total_ == 0 ? 1 : total_ / expected_; }

 private:
  int64_t batches_ = 1;
  double expected_ = 0;
  double total_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_GRAD_WINDOW_H_

// LineRig is a trainer of a very small problem, for tests: a Linear(3, 1) that
// learns a line. Without default callbacks it prints nothing.
//
//   LineRig rig;
//   rig.trainer().Train({.data = LinePoints(10), .length = Epochs(1)});
#ifndef TRAINYARD_TRAINER_TESTING_LINE_RIG_H_
#define TRAINYARD_TRAINER_TESTING_LINE_RIG_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "backends/backend.h"
#include "trainer/data/dataset.h"
#include "trainer/optim/optimizer.h"
#include "trainer/trainer.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

// Points in three dimensions, each with twice their sum; the same at every
// call.
DatasetPtr LinePoints(int64_t size);

class LineRig {
 public:
  // The same weights at every construction. On one process of its own, or on
  // `backend`, which is borrowed.
  explicit LineRig(double lr = 0.1, Backend* backend = nullptr,
                   bool default_callbacks = false);
  ~LineRig();

  Trainer& trainer();
  Optimizer& optimizer();
  torch::nn::Module& model();
  // A copy of the model's weight, on the CPU.
  at::Tensor weight() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_TESTING_LINE_RIG_H_

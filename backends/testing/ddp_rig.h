// A small network and endless data, the same in every process and in
// tools/golden/ddp_rig.py, for tests of data-parallel training.
#ifndef TRAINYARD_BACKENDS_TESTING_DDP_RIG_H_
#define TRAINYARD_BACKENDS_TESTING_DDP_RIG_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "trainer/model/model_tensors.h"
#include "trainer/model/model_unit.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

// 12 inputs, 16 hidden units, 4 classes. Each of its two layers is a ModelUnit.
class TinyMlp {
 public:
  TinyMlp();
  at::Tensor Loss(const at::Tensor& input, const at::Tensor& target) const;
  ModelTensors Model() const;
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

 private:
  std::vector<at::Tensor> parameters_;
  std::vector<std::shared_ptr<ModelUnit>> units_;
};

// Rows [begin, begin + count) of the data.
at::Tensor RigInputs(int64_t begin, int64_t count);
at::Tensor RigTargets(int64_t begin, int64_t count);

// How the 32 records of an update are split.
struct Split {
  int64_t ranks = 1;
  int64_t micro_batch = 32;
  int64_t accumulation = 1;
};

struct RigRun {
  Split split = {};
  int64_t updates = 100;
  Clip clip = {};
};

// Trains the model, as one of the split's ranks. The optimizer has parameters
// of the model.
void TrainRig(Backend& backend, const TinyMlp& model, Optimizer& optimizer,
              const RigRun& run);
// The same for 100 updates by SGD with momentum.
void TrainRig(Backend& backend, const TinyMlp& model, const Split& split);

// Parameters of the model that a script of tools/golden has written: in the
// lines after the one that is equal to `title`.
std::vector<at::Tensor> ReadRigParameters(const std::string& path,
                                          const std::string& title);

// The largest difference of any element, relative to its tensor's largest.
// NaN if an element is NaN.
double Difference(const std::vector<at::Tensor>& actual,
                  const std::vector<at::Tensor>& expected);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_DDP_RIG_H_

#include "trainer/testing/line_rig.h"

#include <ATen/Context.h>
#include <ATen/ops/randn.h>

#include "backends/single_process.h"
#include "trainer/accelerator.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/modules.h"

namespace trainyard {

DatasetPtr LinePoints(int64_t size) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({size, 3});
  return MakeTensorDataset(Example{x, x.sum(1, /*keepdim=*/true).mul(2)});
}

struct LineRig::Parts {
  Parts(double lr, Backend* backend, bool default_callbacks)
      : model((at::manual_seed(1), TestLinear(3, 1))),
        optimizer(*model, {.lr = lr, .weight_decay = 0}),
        own(backend == nullptr ? MakeSingleProcessBackend(DefaultDevice())
                               : nullptr),
        trainer(Supervised(model, MeanSquaredError()), optimizer,
                backend == nullptr ? *own : *backend,
                {.default_callbacks = default_callbacks}) {}

  TestLinear model;
  AdamW optimizer;
  std::unique_ptr<Backend> own;
  Trainer trainer;
};

LineRig::LineRig(double lr, Backend* backend, bool default_callbacks)
    : parts_(std::make_unique<Parts>(lr, backend, default_callbacks)) {}
LineRig::~LineRig() = default;

Trainer& LineRig::trainer() { return parts_->trainer; }
Optimizer& LineRig::optimizer() { return parts_->optimizer; }
torch::nn::Module& LineRig::model() { return *parts_->model; }
at::Tensor LineRig::weight() const {
  return parts_->model["weight"].detach().cpu().clone();
}

}  // namespace trainyard

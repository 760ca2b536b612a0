// TorchOptimizer trains with any torch::optim::Optimizer: one of libtorch's or
// a class of your own.
//
//   TorchOptimizer optimizer(
//       std::make_unique<torch::optim::SGD>(
//           model->parameters(),
//           torch::optim::SGDOptions(0.1).momentum(0.9)),
//       *model);
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//
// The groups are those of the wrapped optimizer. Their fields are the numbers
// of its options (SGD, Adam, AdamW, RMSprop, Adagrad), for other classes "lr"
// where get_lr and set_lr exist. Set fields here, with Field or a schedule:
// every step copies them to the wrapped optimizer.
//
// State. Of libtorch's classes: "<parameter>/<what>" in libtorch's words, and
// "<parameter>/made", 0 until the first update of the parameter. Of another
// class: its save and load, as the bytes "archive", which hold addresses and so
// differ from run to run; its options come from the program, never from the
// state.
//
// torch::optim::LBFGS needs several losses per update: see lbfgs.h.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_TORCH_OPTIMIZER_H_
#define TRAINYARD_TRAINER_OPTIM_TORCH_OPTIMIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/optim/optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

class TorchOptimizer final : public Optimizer {
 public:
  // Wraps `inner` and owns it. `names` gives its parameters their names: the
  // model, as a rule. Parameters that are frozen may lack a name; they are not
  // trained. Throws c10::ValueError if another one lacks it, and for
  // torch::optim::LBFGS.
  TorchOptimizer(std::unique_ptr<torch::optim::Optimizer> inner,
                 const ParamGroups& names);
  ~TorchOptimizer() override;

  // True for libtorch's classes; what another class does is unknown.
  bool element_wise() const override;

  // Throws c10::ValueError if the wrapped optimizer has state that its class
  // cannot save.
  std::vector<NamedTensor> NamedTensors() const override;
  void LoadTensors(const std::vector<NamedTensor>& tensors) override;

 private:
  struct Parts;
  explicit TorchOptimizer(Parts parts);

  void GroupAdded(const ParamGroup& group) override;
  void ReplaceBySlices(const SlicesByWhole& slices) override;
  void Step(const std::optional<at::Tensor>& divisor) override;

  std::vector<NamedTensor> ArchiveState() const;
  void LoadArchive(const std::vector<NamedTensor>& tensors);

  std::unique_ptr<torch::optim::Optimizer> inner_;
  // The trained parameters and their names, by group.
  std::vector<std::vector<NamedTensor>> params_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_TORCH_OPTIMIZER_H_

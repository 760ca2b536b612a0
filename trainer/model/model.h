// Model is the interface of what a task trains: a torch::nn module (NnModel), a
// TorchScript model (trainer/model/script_model.h), or a model that was
// exported from Python (trainer/exported/exported_model.h).
//
//   const std::shared_ptr<Model> model = NnModel(net.ptr());
//   model->SetTraining(true);
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_MODEL_H_
#define TRAINYARD_TRAINER_MODEL_MODEL_H_

#include <c10/core/Device.h>

#include <memory>
#include <vector>

#include "trainer/model/model_unit.h"
#include "trainer/model/named_tensor.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

class Model {
 public:
  virtual ~Model() = default;

  // Switches to training mode or to evaluation mode.
  virtual void SetTraining(bool training) = 0;

  virtual void To(at::Device device) = 0;

  // The parameters, including frozen ones, and the buffers, with the names and
  // in the order of the model. They share memory with it.
  virtual std::vector<NamedTensor> Parameters() const = 0;
  virtual std::vector<NamedTensor> Buffers() const = 0;

  // The parts of the model that are declared units.
  virtual std::vector<UnitTensors> Units() const { return {}; }
};

// Returns the module as a model. Returns null for a null module.
std::shared_ptr<Model> NnModel(std::shared_ptr<torch::nn::Module> module);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_MODEL_H_

// ScriptModel is a TorchScript model, as exported by Python. It is trained like
// a model that was written in C++:
//
//   const std::shared_ptr<ScriptModel> model = LoadScript("net.pt");
//   AdamW optimizer({ParamGroup{.params = model->Parameters()}}, {.lr = 1e-3});
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//
// A TorchScript file is a program: load only files from people you trust.
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_SCRIPT_MODEL_H_
#define TRAINYARD_TRAINER_MODEL_SCRIPT_MODEL_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <vector>

#include "trainer/model/model.h"
#include "trainer/model/named_tensor.h"

// Include torch/csrc/jit/api/module.h, which is large, to call its methods.
namespace torch::jit {
struct Module;
}  // namespace torch::jit

namespace trainyard {

class ScriptModel final : public Model {
 public:
  // A copy of a torch::jit::Module refers to the same module.
  explicit ScriptModel(torch::jit::Module module);
  ~ScriptModel() override;

  at::Tensor forward(const at::Tensor& input);

  void SetTraining(bool training) override;
  void To(at::Device device) override;
  std::vector<NamedTensor> Parameters() const override;
  std::vector<NamedTensor> Buffers() const override;

  // For operations that only TorchScript has, e.g. save.
  torch::jit::Module& module() { return *module_; }

 private:
  std::unique_ptr<torch::jit::Module> module_;
};

// Loads a model to the CPU. Throws c10::ValueError, naming the file, if it
// cannot be read.
std::shared_ptr<ScriptModel> LoadScript(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_SCRIPT_MODEL_H_

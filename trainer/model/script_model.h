// ScriptModel is a TorchScript model, as Python exports it, trained like one
// that was written in C++:
//
//   const std::shared_ptr<ScriptModel> model = LoadScript("net.pt");
//   AdamW optimizer({ParamGroup{.params = model->Parameters()}}, {.lr = 1e-3});
//   Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
//
// A TorchScript file is a program: load only those of people you trust.
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

// Whoever calls its methods includes torch/csrc/jit/api/module.h, which is
// large.
namespace torch::jit {
struct Module;
}  // namespace torch::jit

namespace trainyard {

class ScriptModel final : public Model {
 public:
  // Copies of a torch::jit::Module are the same module.
  explicit ScriptModel(torch::jit::Module module);
  ~ScriptModel() override;

  at::Tensor forward(const at::Tensor& input);

  void SetTraining(bool training) override;
  void To(at::Device device) override;
  std::vector<NamedTensor> Parameters() const override;
  std::vector<NamedTensor> Buffers() const override;

  // For what is particular to TorchScript: save, other methods.
  torch::jit::Module& module() { return *module_; }

 private:
  std::unique_ptr<torch::jit::Module> module_;
};

// To the CPU. Throws c10::ValueError, naming the file, if it cannot be read.
std::shared_ptr<ScriptModel> LoadScript(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_SCRIPT_MODEL_H_

// Lora adapts a model by small matrices beside its weights (low-rank
// adaptation): all the rest is frozen, and only they are trained and saved.
//
//   Lora lora(*model, {.targets = {"*.query", "*.value"}, .rank = 8});
//   AdamW optimizer(*model, {.lr = 1e-3});   // trains the adapters
//   …                                        // any loop; forward as before
//   lora.Merge();                            // into the weights, for speed
//
// The model is of torch::nn or an ExportedModel. Linear, Conv2d and Embedding
// can be adapted, wherever they are in the model and however they are called: a
// layer's weight is replaced in place, so that neither the model's class nor
// its forward has to know (how: see adapted_weight.h). The model has the
// adapters as parameters, named "<layer>.lora_A.weight" and
// "<layer>.lora_B.weight" (of an Embedding, "lora_embedding_A" and
// "lora_embedding_B"): optimizers, checkpoints, Ema and DDP see them, and the
// weights they change, as any others. clone() of an adapted torch::nn module
// throws.
//
// adapter_files.h saves and loads them as Python's peft does.
// Thread-compatible. Borrows the model, which must outlive it.
#ifndef TRAINYARD_FINETUNING_LORA_LORA_H_
#define TRAINYARD_FINETUNING_LORA_LORA_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "finetuning/lora/adapted_weight.h"
#include "finetuning/lora/lora_model.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

struct LoraOptions {
  // The layers to adapt: globs over their full names ('*' is any run of
  // characters, '?' any one). One with '*' or '?' passes over layers that
  // cannot be adapted.
  std::vector<std::string> targets;
  // Of the matrices. REQUIRES: >= 1.
  int64_t rank = 8;
  // The change is multiplied by alpha / rank. REQUIRES: finite.
  double alpha = 8;
  // By alpha / sqrt(rank) instead.
  bool rank_stabilized = false;
  // Share of its inputs that an adapter does not see in training mode. Not of
  // embeddings. REQUIRES: >= 0 and < 1.
  double dropout = 0;
  // Other layers that are trained in full and saved with the adapters, such as
  // a new head: globs.
  std::vector<std::string> also_train = {};
};

class Lora {
 public:
  // A new adapter changes nothing until it is trained. Throws c10::ValueError
  // for a bad option, a pattern that matches no layer (with near names), and a
  // layer that cannot be adapted; then nothing has changed.
  Lora(torch::nn::Module& model, LoraOptions options);
  Lora(ExportedModel& model, LoraOptions options);
  // Takes the adapters out of the model. What is merged stays merged.
  ~Lora();
  Lora(const Lora&) = delete;
  Lora& operator=(const Lora&) = delete;

  const LoraModel& model() const { return *model_; }
  const LoraOptions& options() const { return options_; }
  // Names, in the model's order.
  std::vector<std::string> AdaptedLayers() const;
  const std::vector<std::string>& OtherTrainedLayers() const { return others_; }

  // The adapters, and the parameters of layers that are trained beside them.
  std::vector<NamedTensor> Parameters() const;

  // Adds the adapters to the weights and stands aside: the model is as fast as
  // before, and is saved as one that was never adapted. Throws c10::Error if
  // that was done.
  void Merge();
  // Restores the weights, to the bit, and the adapters. Throws c10::Error if
  // they are not merged.
  void Unmerge();
  bool merged() const { return merged_; }

 private:
  struct Adapted {
    size_t layer;  // of the model
    LowRankChange change;
    at::Tensor before;  // the weight, while it is merged
  };
  Lora(std::unique_ptr<LoraModel> model, LoraOptions options);
  void CheckOptions() const;
  std::vector<bool> Targets() const;
  std::vector<bool> AlsoTrained(const std::vector<bool>& adapted) const;
  void Adapt(size_t layer);

  std::unique_ptr<LoraModel> model_;
  LoraOptions options_;
  std::vector<Adapted> adapted_;
  std::vector<std::string> others_;
  bool merged_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_LORA_LORA_H_

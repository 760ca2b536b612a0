// Lora adds small trainable matrices (low-rank adapters) to a model. All other
// parameters are frozen; only the adapters are trained and saved.
//
//   Lora lora(*model, {.targets = {"conv", "lin*"}, .rank = 8});
//   AdamW optimizer(*model, {.lr = 1e-3});  // trains the adapters
//   …
//   lora.Merge();  // adds the adapters to the weights, for fast inference
//
// The model is a torch::nn module or an ExportedModel. Linear, Conv2d and
// Embedding layers can be adapted, wherever they are in the model and however
// they are called: the layer's weight is replaced in place, so the model's
// class and forward stay unchanged (see adapted_weight.h). The adapters are
// parameters of the model, named "<layer>.lora_A.weight" and
// "<layer>.lora_B.weight" (of an Embedding: "lora_embedding_A" and
// "lora_embedding_B"). Optimizers, checkpoints, Ema and DDP handle them like
// any other parameter. clone() of an adapted torch::nn module throws.
//
// adapter_files.h saves and loads adapters in peft's format.
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
  // The layers to adapt: globs over full names ('*' matches any characters, '?'
  // one character). A glob with '*' or '?' skips layers that cannot be adapted;
  // a plain name of such a layer is an error.
  std::vector<std::string> targets;
  // Rank of the adapters. REQUIRES: >= 1.
  int64_t rank = 8;
  // The change is multiplied by alpha / rank. REQUIRES: finite.
  double alpha = 8;
  // Multiply by alpha / sqrt(rank) instead.
  bool rank_stabilized = false;
  // Dropout on the inputs of the adapters in training mode. Embeddings ignore
  // it. REQUIRES: >= 0, < 1.
  double dropout = 0;
  // Globs of layers that are trained in full and saved with the adapters, such
  // as a new head.
  std::vector<std::string> also_train = {};
};

class Lora {
 public:
  // New adapters do not change the model's outputs until they are trained.
  // Throws c10::ValueError, and leaves the model unchanged, if an option is out
  // of range, a glob matches no layer (with the nearest names), or a named
  // layer cannot be adapted.
  Lora(torch::nn::Module& model, LoraOptions options);
  Lora(ExportedModel& model, LoraOptions options);
  // Removes the adapters from the model. Merged weights stay merged.
  ~Lora();
  Lora(const Lora&) = delete;
  Lora& operator=(const Lora&) = delete;

  const LoraModel& model() const { return *model_; }
  const LoraOptions& options() const { return options_; }
  // Full names, in the model's order.
  std::vector<std::string> AdaptedLayers() const;
  const std::vector<std::string>& OtherTrainedLayers() const { return others_; }

  // The adapters and the parameters of the layers in `also_train`.
  std::vector<NamedTensor> Parameters() const;

  // Adds the adapters to the weights and removes them from the computation. The
  // model is as fast as before and is saved like one that was never adapted.
  // Throws c10::Error if the adapters are merged already.
  void Merge();
  // Undoes Merge: restores the weights bit-exactly, and the adapters. Throws
  // c10::Error if the adapters are not merged.
  void Unmerge();
  bool merged() const { return merged_; }

 private:
  struct Adapted {
    size_t layer;  // of the model
    LowRankChange change;
    at::Tensor before;  // the unmerged weight, while merged
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

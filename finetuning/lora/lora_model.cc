#include "finetuning/lora/lora_model.h"

#include <c10/util/Exception.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <utility>

#include "trainer/exported/exported_model.h"

namespace trainyard {
namespace {

// One of the two matrices, a module so that it can be taken out again.
class Matrix final : public torch::nn::Module {
 public:
  explicit Matrix(const at::Tensor& values) {
    register_parameter("weight", values);
  }
};

class NnLoraModel final : public LoraModel {
 public:
  explicit NnLoraModel(torch::nn::Module& model) : model_(model) {
    for (const auto& item : model.named_modules("", /*include_self=*/false)) {
      Add(item.key(), item.value());
    }
  }

  std::vector<NamedTensor> Parameters() const override {
    std::vector<NamedTensor> list;
    for (const auto& item : model_.named_parameters()) {
      list.push_back({item.key(), item.value()});
    }
    return list;
  }

  void UseWeight(size_t layer, const at::Tensor& weight) override {
    *weights_[layer] = weight;
  }

  void AddMatrix(size_t layer, const std::string& name,
                 const at::Tensor& values) override {
    const auto matrix = std::make_shared<Matrix>(values);
    matrix->train(modules_[layer]->is_training());
    modules_[layer]->register_module(name, matrix);
  }

  void RemoveMatrix(size_t layer, const std::string& name) override {
    modules_[layer]->unregister_module(name);
  }

 private:
  void Add(const std::string& name,
           const std::shared_ptr<torch::nn::Module>& module) {
    Layer layer{.name = name,
                .type = module->name(),
                .parameters = module->parameters(),
                .is_training = [weak = std::weak_ptr(module)] {
                  const auto held = weak.lock();
                  return held != nullptr && held->is_training();
                }};
    at::Tensor* weight = nullptr;
    if (auto* const linear = module->as<torch::nn::LinearImpl>()) {
      layer.kind = LowRankKind::kLinear;
      weight = &linear->weight;
    } else if (auto* const conv = module->as<torch::nn::Conv2dImpl>()) {
      const torch::ExpandingArray<2> one(1);
      if (conv->options.groups() == 1 && *conv->options.dilation() == *one) {
        layer.kind = LowRankKind::kConv2d;
        weight = &conv->weight;
      }
    } else if (auto* const embedding = module->as<torch::nn::EmbeddingImpl>()) {
      if (!embedding->options.max_norm()) {
        layer.kind = LowRankKind::kEmbedding;
        weight = &embedding->weight;
      }
    }
    if (weight != nullptr) {
      layer.weight = module->named_parameters(/*recurse=*/false)["weight"];
    }
    layers_.push_back(std::move(layer));
    modules_.push_back(module);
    weights_.push_back(weight);
  }

  torch::nn::Module& model_;
  // As layers_.
  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
  std::vector<at::Tensor*> weights_;  // the members that forward uses
};

LowRankKind KindOf(const std::string& op) {
  if (op == "aten::linear") return LowRankKind::kLinear;
  if (op == "aten::conv2d") return LowRankKind::kConv2d;
  return LowRankKind::kEmbedding;
}

class ExportedLoraModel final : public LoraModel {
 public:
  explicit ExportedLoraModel(ExportedModel& model) : model_(model) {
    for (const NamedTensor& item : model.Parameters()) {
      for (size_t dot = item.name.find('.'); dot != std::string::npos;
           dot = item.name.find('.', dot + 1)) {
        LayerNamed(item.name.substr(0, dot)).parameters.push_back(item.tensor);
      }
    }
    for (const WeightUse& use : model.LayerWeights()) {
      if (!use.parameter.ends_with(".weight")) continue;
      Layer& layer =
          LayerNamed(use.parameter.substr(0, use.parameter.rfind('.')));
      layer.kind = KindOf(use.op);
      for (const NamedTensor& item : model.Parameters()) {
        if (item.name == use.parameter) layer.weight = item.tensor;
      }
    }
  }

  std::vector<NamedTensor> Parameters() const override {
    return model_.Parameters();
  }

  void UseWeight(size_t layer, const at::Tensor& weight) override {
    model_.ComputeWith(layers_[layer].name + ".weight", weight);
  }

  void AddMatrix(size_t layer, const std::string& name,
                 const at::Tensor& values) override {
    model_.AddParameter(layers_[layer].name + "." + name + ".weight", values);
  }

  void RemoveMatrix(size_t layer, const std::string& name) override {
    model_.RemoveParameter(layers_[layer].name + "." + name + ".weight");
  }

 private:
  Layer& LayerNamed(const std::string& name) {
    const auto found =
        std::find_if(layers_.begin(), layers_.end(),
                     [&](const Layer& layer) { return layer.name == name; });
    if (found != layers_.end()) return *found;
    return layers_.emplace_back(Layer{
        .name = name,
        .is_training = [&model = model_] { return model.is_training(); }});
  }

  ExportedModel& model_;
};

}  // namespace

std::unique_ptr<LoraModel> LoraModelOf(torch::nn::Module& model) {
  return std::make_unique<NnLoraModel>(model);
}

std::unique_ptr<LoraModel> LoraModelOf(ExportedModel& model) {
  return std::make_unique<ExportedLoraModel>(model);
}

}  // namespace trainyard

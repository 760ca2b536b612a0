#include "finetuning/lora/lora.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "finetuning/near_names.h"
#include "trainer/optim/param_group_rules.h"

namespace trainyard {
namespace {

using NamedModules =
    torch::OrderedDict<std::string, std::shared_ptr<torch::nn::Module>>;

// One of the two matrices; a module, so that it can be unregistered.
class Matrix final : public torch::nn::Module {
 public:
  explicit Matrix(const at::Tensor& values)
      : weight(register_parameter("weight", values)) {}
  at::Tensor weight;
};

std::string MatrixName(LowRankKind kind, char letter) {
  const std::string prefix =
      kind == LowRankKind::kEmbedding ? "lora_embedding_" : "lora_";
  return prefix + letter;
}

bool IsPattern(const std::string& text) {
  return text.find_first_of("*?") != std::string::npos;
}

// The modules that a name or pattern matches, in the model's order, without the
// model itself.
std::vector<size_t> Matches(const NamedModules& modules,
                            const std::string& pattern, const char* option) {
  std::vector<size_t> found;
  std::vector<std::string> names;
  for (size_t i = 0; i < modules.size(); ++i) {
    names.push_back(modules[i].key());
    if (MatchesGlob(names.back(), pattern)) found.push_back(i);
  }
  TORCH_CHECK_VALUE(!found.empty(), "Lora: \"", pattern, "\" in ", option,
                    " matches no layer; near it are ",
                    QuotedNearNames(pattern, names));
  return found;
}

// Initializes like Linear and Conv2d, so that the adapter's activations have
// the scale of the layer's.
at::Tensor Uniform(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const at::Tensor values = at::empty(sizes, options);
  const double bound =
      1 / std::sqrt(static_cast<double>(values.numel() / values.size(0)));
  return at::Tensor(values).uniform_(-bound, bound);
}

}  // namespace

void Lora::CheckOptions() const {
  TORCH_CHECK_VALUE(!options_.targets.empty(), "Lora: targets is empty");
  TORCH_CHECK_VALUE(options_.rank >= 1, "Lora: rank is ", options_.rank,
                    "; it must be at least 1");
  TORCH_CHECK_VALUE(std::isfinite(options_.alpha), "Lora: alpha is ",
                    options_.alpha, "; it must be finite");
  TORCH_CHECK_VALUE(options_.dropout >= 0 && options_.dropout < 1,
                    "Lora: dropout is ", options_.dropout,
                    "; it must be at least 0 and below 1");
}

Lora::Lora(torch::nn::Module& model, LoraOptions options)
    : model_(model), options_(std::move(options)) {
  CheckOptions();
  const NamedModules modules = model.named_modules("", /*include_self=*/false);
  std::vector<bool> adapted(modules.size()), trained(modules.size());
  for (const std::string& target : options_.targets) {
    bool any = false;
    std::string last;
    for (const size_t i : Matches(modules, target, "targets")) {
      const bool can = MakeLayer(modules[i].key(), modules[i].value()).weight;
      if (can) adapted[i] = any = true;
      last = "\"" + modules[i].key() + "\", a " + modules[i].value()->name();
    }
    TORCH_CHECK_VALUE(any, "Lora: \"", target, "\" in targets matches ", last,
                      ", which cannot be adapted; Linear, Embedding without "
                      "max_norm, and Conv2d without groups and dilation can");
  }
  for (const std::string& pattern : options_.also_train) {
    for (const size_t i : Matches(modules, pattern, "also_train")) {
      const bool has_any = !modules[i].value()->parameters().empty();
      TORCH_CHECK_VALUE(has_any || IsPattern(pattern), "Lora: \"", pattern,
                        "\" in also_train has no parameters");
      TORCH_CHECK_VALUE(!adapted[i], "Lora: \"", modules[i].key(),
                        "\" is in targets and in also_train");
      if (has_any) trained[i] = true;
    }
  }
  for (const auto& item : model.named_parameters()) {
    item.value().set_requires_grad(false);
    item.value().mutable_grad().reset();
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    if (trained[i]) {
      others_.push_back(modules[i].key());
      for (const at::Tensor& item : modules[i].value()->parameters()) {
        if (item.is_floating_point()) item.set_requires_grad(true);
      }
    }
    if (!adapted[i]) continue;
    layers_.push_back(MakeLayer(modules[i].key(), modules[i].value()));
    Register(layers_.back());
  }
}

Lora::~Lora() {
  for (Layer& layer : layers_) {
    *layer.weight = layer.change.weight;
    for (const char letter : {'A', 'B'}) {
      layer.module->unregister_module(MatrixName(layer.change.kind, letter));
    }
  }
}

// The result has no weight if the module cannot be adapted.
Lora::Layer Lora::MakeLayer(
    const std::string& name,
    const std::shared_ptr<torch::nn::Module>& module) const {
  Layer layer{.name = name, .module = module, .weight = nullptr};
  LowRankChange& change = layer.change;
  if (auto* const linear = module->as<torch::nn::LinearImpl>()) {
    change.kind = LowRankKind::kLinear;
    layer.weight = &linear->weight;
  } else if (auto* const conv = module->as<torch::nn::Conv2dImpl>()) {
    change.kind = LowRankKind::kConv2d;
    const torch::ExpandingArray<2> one(1);
    if (conv->options.groups() == 1 && *conv->options.dilation() == *one) {
      layer.weight = &conv->weight;
    }
  } else if (auto* const embedding = module->as<torch::nn::EmbeddingImpl>()) {
    change.kind = LowRankKind::kEmbedding;
    if (!embedding->options.max_norm()) layer.weight = &embedding->weight;
  }
  if (layer.weight == nullptr) return layer;
  for (const auto& child : module->named_children()) {
    TORCH_CHECK_VALUE(child.key() != MatrixName(change.kind, 'A'), "Lora: \"",
                      name, "\" has an adapter already");
  }
  change.weight = module->named_parameters(/*recurse=*/false)["weight"];
  change.dropout = options_.dropout;
  change.layer = module;
  const auto rank = static_cast<double>(options_.rank);
  change.scale =
      options_.alpha / (options_.rank_stabilized ? std::sqrt(rank) : rank);
  return layer;
}

void Lora::Register(Layer& layer) const {
  LowRankChange& change = layer.change;
  std::vector<int64_t> a = change.weight.sizes().vec(), b(a.size(), 1);
  const bool is_embedding = change.kind == LowRankKind::kEmbedding;
  if (is_embedding) std::reverse(a.begin(), a.end());
  b[0] = a[0];
  a[0] = b[1] = options_.rank;
  const at::TensorOptions options =
      change.weight.options().requires_grad(false);
  // One of the two is zero, so that the outputs do not change at first.
  const auto add = [&](char letter, const at::Tensor& values) {
    auto matrix = std::make_shared<Matrix>(values);
    matrix->train(layer.module->is_training());
    layer.module->register_module(MatrixName(change.kind, letter), matrix);
    return matrix->weight;
  };
  change.a =
      add('A', is_embedding ? at::zeros(a, options) : Uniform(a, options));
  change.b =
      add('B', is_embedding ? at::randn(b, options) : at::zeros(b, options));
  *layer.weight = AdaptedWeight(change);
}

std::vector<std::string> Lora::AdaptedLayers() const {
  std::vector<std::string> names;
  for (const Layer& layer : layers_) names.push_back(layer.name);
  return names;
}

std::vector<NamedTensor> Lora::Parameters() const {
  std::vector<NamedTensor> parameters;
  for (const Layer& layer : layers_) {
    const LowRankKind kind = layer.change.kind;
    parameters.push_back(
        {layer.name + "." + MatrixName(kind, 'A') + ".weight", layer.change.a});
    parameters.push_back(
        {layer.name + "." + MatrixName(kind, 'B') + ".weight", layer.change.b});
  }
  for (const auto& item : model_.named_parameters()) {
    const bool is_others = std::any_of(
        others_.begin(), others_.end(), [&item](const std::string& name) {
          return item.key().starts_with(name + ".");
        });
    const bool is_there = std::any_of(
        parameters.begin(), parameters.end(),
        [&item](const NamedTensor& one) { return one.name == item.key(); });
    if (is_others && !is_there)
      parameters.push_back({item.key(), item.value()});
  }
  return parameters;
}

void Lora::Merge() {
  TORCH_CHECK(!merged_, "Lora: the adapters are merged already");
  const at::NoGradGuard no_gradients;
  for (Layer& layer : layers_) {
    layer.before = layer.change.weight.clone();
    layer.change.weight.add_(WeightChange(layer.change));
    *layer.weight = layer.change.weight;
  }
  merged_ = true;
}

void Lora::Unmerge() {
  TORCH_CHECK(merged_, "Lora: the adapters are not merged");
  const at::NoGradGuard no_gradients;
  for (Layer& layer : layers_) {
    layer.change.weight.copy_(layer.before);
    layer.before.reset();
    *layer.weight = AdaptedWeight(layer.change);
  }
  merged_ = false;
}

}  // namespace trainyard

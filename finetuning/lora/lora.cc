#include "finetuning/lora/lora.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "finetuning/near_names.h"
#include "trainer/optim/param_group_rules.h"

namespace trainyard {
namespace {

std::string MatrixName(LowRankKind kind, char letter) {
  const std::string prefix =
      kind == LowRankKind::kEmbedding ? "lora_embedding_" : "lora_";
  return prefix + letter;
}

bool IsPattern(const std::string& text) {
  return text.find_first_of("*?") != std::string::npos;
}

// What a name or pattern matches, in the model's order; the model itself is not
// meant.
std::vector<size_t> Matches(const std::vector<LoraModel::Layer>& layers,
                            const std::string& pattern, const char* option) {
  std::vector<size_t> found;
  std::vector<std::string> names;
  for (size_t i = 0; i < layers.size(); ++i) {
    names.push_back(layers[i].name);
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
    : Lora(LoraModelOf(model), std::move(options)) {}

Lora::Lora(ExportedModel& model, LoraOptions options)
    : Lora(LoraModelOf(model), std::move(options)) {}

Lora::Lora(std::unique_ptr<LoraModel> model, LoraOptions options)
    : model_(std::move(model)), options_(std::move(options)) {
  CheckOptions();
  const std::vector<bool> adapted = Targets(), trained = AlsoTrained(adapted);
  for (const NamedTensor& item : model_->Parameters()) {
    item.tensor.set_requires_grad(false);
    item.tensor.mutable_grad().reset();
  }
  const std::vector<LoraModel::Layer>& layers = model_->layers();
  for (size_t i = 0; i < layers.size(); ++i) {
    if (adapted[i]) Adapt(i);
    if (!trained[i]) continue;
    others_.push_back(layers[i].name);
    for (const at::Tensor& item : layers[i].parameters) {
      if (item.is_floating_point()) item.set_requires_grad(true);
    }
  }
}

Lora::~Lora() {
  for (const Adapted& item : adapted_) {
    model_->UseWeight(item.layer, item.change.weight);
    for (const char letter : {'A', 'B'}) {
      model_->RemoveMatrix(item.layer, MatrixName(item.change.kind, letter));
    }
  }
}

std::vector<bool> Lora::Targets() const {
  const std::vector<LoraModel::Layer>& layers = model_->layers();
  std::vector<bool> adapted(layers.size());
  for (const std::string& target : options_.targets) {
    bool any = false;
    std::string last;
    for (const size_t i : Matches(layers, target, "targets")) {
      const LoraModel::Layer& layer = layers[i];
      if (layer.kind) {
        const std::string taken =
            layer.name + "." + MatrixName(*layer.kind, 'A') + ".weight";
        for (const NamedTensor& item : model_->Parameters()) {
          TORCH_CHECK_VALUE(item.name != taken, "Lora: \"", layer.name,
                            "\" has an adapter already");
        }
        adapted[i] = any = true;
      }
      last = "\"" + layer.name + "\"";
      if (!layer.type.empty()) last += ", a " + layer.type;
    }
    TORCH_CHECK_VALUE(any, "Lora: \"", target, "\" in targets matches ", last,
                      ", which cannot be adapted; Linear, Embedding without "
                      "max_norm, and Conv2d without groups and dilation can");
  }
  return adapted;
}

std::vector<bool> Lora::AlsoTrained(const std::vector<bool>& adapted) const {
  const std::vector<LoraModel::Layer>& layers = model_->layers();
  std::vector<bool> trained(layers.size());
  for (const std::string& pattern : options_.also_train) {
    for (const size_t i : Matches(layers, pattern, "also_train")) {
      const bool has_any = !layers[i].parameters.empty();
      TORCH_CHECK_VALUE(has_any || IsPattern(pattern), "Lora: \"", pattern,
                        "\" in also_train has no parameters");
      TORCH_CHECK_VALUE(!adapted[i], "Lora: \"", layers[i].name,
                        "\" is in targets and in also_train");
      if (has_any) trained[i] = true;
    }
  }
  return trained;
}

void Lora::Adapt(size_t index) {
  const LoraModel::Layer& layer = model_->layers()[index];
  const auto rank = static_cast<double>(options_.rank);
  LowRankChange change{
      .kind = *layer.kind,
      .weight = layer.weight,
      .a = {},
      .b = {},
      .scale =
          options_.alpha / (options_.rank_stabilized ? std::sqrt(rank) : rank),
      .dropout = options_.dropout,
      .is_training = layer.is_training};
  std::vector<int64_t> a = change.weight.sizes().vec(), b(a.size(), 1);
  const bool is_embedding = change.kind == LowRankKind::kEmbedding;
  if (is_embedding) std::reverse(a.begin(), a.end());
  b[0] = a[0];
  a[0] = b[1] = options_.rank;
  const at::TensorOptions options =
      change.weight.options().requires_grad(false);
  // One of the two is zero, so that nothing changes at first.
  const auto add = [&](char letter, at::Tensor values) {
    values.requires_grad_();
    model_->AddMatrix(index, MatrixName(change.kind, letter), values);
    return values;
  };
  change.a =
      add('A', is_embedding ? at::zeros(a, options) : Uniform(a, options));
  change.b =
      add('B', is_embedding ? at::randn(b, options) : at::zeros(b, options));
  model_->UseWeight(index, AdaptedWeight(change));
  adapted_.push_back({.layer = index, .change = change, .before = {}});
}

std::vector<std::string> Lora::AdaptedLayers() const {
  std::vector<std::string> names;
  for (const Adapted& item : adapted_) {
    names.push_back(model_->layers()[item.layer].name);
  }
  return names;
}

std::vector<NamedTensor> Lora::Parameters() const {
  std::vector<NamedTensor> parameters;
  for (const Adapted& item : adapted_) {
    const std::string& name = model_->layers()[item.layer].name;
    const LowRankKind kind = item.change.kind;
    parameters.push_back(
        {name + "." + MatrixName(kind, 'A') + ".weight", item.change.a});
    parameters.push_back(
        {name + "." + MatrixName(kind, 'B') + ".weight", item.change.b});
  }
  for (const NamedTensor& item : model_->Parameters()) {
    const bool is_others = std::any_of(
        others_.begin(), others_.end(), [&item](const std::string& name) {
          return item.name.starts_with(name + ".");
        });
    const bool is_there = std::any_of(
        parameters.begin(), parameters.end(),
        [&item](const NamedTensor& one) { return one.name == item.name; });
    if (is_others && !is_there) parameters.push_back(item);
  }
  return parameters;
}

void Lora::Merge() {
  TORCH_CHECK(!merged_, "Lora: the adapters are merged already");
  const at::NoGradGuard no_gradients;
  for (Adapted& item : adapted_) {
    item.before = item.change.weight.clone();
    item.change.weight.add_(WeightChange(item.change));
    model_->UseWeight(item.layer, item.change.weight);
  }
  merged_ = true;
}

void Lora::Unmerge() {
  TORCH_CHECK(merged_, "Lora: the adapters are not merged");
  const at::NoGradGuard no_gradients;
  for (Adapted& item : adapted_) {
    item.change.weight.copy_(item.before);
    item.before.reset();
    model_->UseWeight(item.layer, AdaptedWeight(item.change));
  }
  merged_ = false;
}

}  // namespace trainyard

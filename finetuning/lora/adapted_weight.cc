#include "finetuning/lora/adapted_weight.h"

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <optional>
#include <string_view>
#include <utility>

namespace trainyard {
namespace {

constexpr c10::DispatchKey kKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

// Has no storage, so nothing can bypass the kernels below.
class AdaptedImpl final : public c10::TensorImpl {
 public:
  AdaptedImpl(LowRankChange change, bool transposed)
      : TensorImpl(c10::DispatchKeySet(kKey), change.weight.dtype(),
                   change.weight.device()),
        change_(std::move(change)),
        transposed_(transposed) {
    const at::Tensor shape =
        transposed ? change_.weight.detach().t() : change_.weight;
    set_sizes_and_strides(shape.sizes(), shape.strides());
  }
  const LowRankChange& change() const { return change_; }
  bool transposed() const { return transposed_; }

 private:
  LowRankChange change_;
  // libtorch's Linear multiplies by the transposed weight.
  bool transposed_;
};

const AdaptedImpl* ImplOf(const at::Tensor& tensor) {
  return dynamic_cast<const AdaptedImpl*>(tensor.unsafeGetTensorImpl());
}

// Returns null if the tensor is not an adapted weight of this kind.
const LowRankChange* ChangeOf(const at::Tensor& tensor, LowRankKind kind,
                              bool transposed = false) {
  const AdaptedImpl* const impl = ImplOf(tensor);
  if (impl == nullptr || impl->transposed() != transposed) return nullptr;
  return impl->change().kind == kind ? &impl->change() : nullptr;
}

// The sum of weight and change, for all other operations.
at::Tensor Plain(const at::Tensor& tensor) {
  const AdaptedImpl* const impl = ImplOf(tensor);
  if (impl == nullptr) return tensor;
  const at::Tensor sum =
      impl->change().weight.add(WeightChange(impl->change()));
  return impl->transposed() ? sum.t() : sum;
}

std::optional<at::Tensor> Plain(const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional(Plain(*tensor)) : std::nullopt;
}

at::Tensor Dropped(const at::Tensor& input, const LowRankChange& change) {
  if (change.dropout == 0) return input;
  const bool is_training = change.is_training && change.is_training();
  return is_training ? at::dropout(input, change.dropout, true) : input;
}

using Excluded = c10::impl::ExcludeDispatchKeyGuard;

at::Tensor Transposed(const at::Tensor& weight) {
  const Excluded plainly(kKey);
  const AdaptedImpl* const impl = ImplOf(weight);
  if (impl == nullptr || impl->change().kind != LowRankKind::kLinear) {
    return Plain(weight).t();
  }
  return at::detail::make_tensor<AdaptedImpl>(impl->change(),
                                              !impl->transposed());
}

at::Tensor Matmul(const at::Tensor& input, const at::Tensor& weight) {
  const Excluded plainly(kKey);
  const LowRankChange* const change =
      ChangeOf(weight, LowRankKind::kLinear, /*transposed=*/true);
  const at::Tensor x = Plain(input);
  if (change == nullptr) return x.matmul(Plain(weight));
  const at::Tensor narrow = Dropped(x, *change).matmul(change->a.t());
  return x.matmul(change->weight.t())
      .add(narrow.matmul(change->b.t()), change->scale);
}

at::Tensor Addmm(const at::Tensor& bias, const at::Tensor& input,
                 const at::Tensor& weight, const at::Scalar& beta,
                 const at::Scalar& alpha) {
  const Excluded plainly(kKey);
  const LowRankChange* const change =
      ChangeOf(weight, LowRankKind::kLinear, /*transposed=*/true);
  const at::Tensor x = Plain(input);
  if (change == nullptr) {
    return at::addmm(Plain(bias), x, Plain(weight), beta, alpha);
  }
  const at::Tensor narrow = Dropped(x, *change).mm(change->a.t());
  const at::Tensor sum =
      at::addmm(Plain(bias), x, change->weight.t(), beta, alpha);
  return at::addmm(sum, narrow, change->b.t(), 1,
                   change->scale * alpha.toDouble());
}

at::Tensor Linear(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias) {
  const Excluded plainly(kKey);
  const LowRankChange* const change = ChangeOf(weight, LowRankKind::kLinear);
  const at::Tensor x = Plain(input);
  if (change == nullptr) return at::linear(x, Plain(weight), Plain(bias));
  const at::Tensor narrow = at::linear(Dropped(x, *change), change->a);
  return at::linear(x, change->weight, Plain(bias))
      .add(at::linear(narrow, change->b), change->scale);
}

// For both overloads of conv2d: padding as numbers and as a string.
template <class Padding>
at::Tensor Conv2d(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                  Padding padding, at::IntArrayRef dilation, int64_t groups) {
  const Excluded plainly(kKey);
  const LowRankChange* const change = ChangeOf(weight, LowRankKind::kConv2d);
  if (change == nullptr) {
    return at::conv2d(Plain(input), Plain(weight), Plain(bias), stride, padding,
                      dilation, groups);
  }
  const at::Tensor narrow = at::conv2d(
      Dropped(Plain(input), *change), change->a, {}, stride, padding, dilation);
  return at::conv2d(Plain(input), change->weight, Plain(bias), stride, padding,
                    dilation, groups)
      .add(at::conv2d(narrow, change->b), change->scale);
}

at::Tensor Embedding(const at::Tensor& weight, const at::Tensor& indices,
                     int64_t padding_idx, bool scale_grad_by_freq,
                     bool sparse) {
  const Excluded plainly(kKey);
  const LowRankChange* const change = ChangeOf(weight, LowRankKind::kEmbedding);
  if (change == nullptr) {
    return at::embedding(Plain(weight), Plain(indices), padding_idx,
                         scale_grad_by_freq, sparse);
  }
  const at::Tensor narrow =
      at::embedding(change->a.t(), indices, padding_idx, scale_grad_by_freq);
  return at::embedding(change->weight, indices, padding_idx, scale_grad_by_freq,
                       sparse)
      .add(at::matmul(narrow, change->b.t()), change->scale);
}

// Runs any other operation on plain tensors.
void Other(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  const size_t first = stack->size() - arguments.size();
  const Excluded plainly(kKey);
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = (*stack)[first + i];
    if (value.isTensor() && ImplOf(value.toTensor()) != nullptr) {
      const auto* const alias = arguments[i].alias_info();
      TORCH_CHECK_VALUE(alias == nullptr || !alias->isWrite(),
                        "Lora: ", op.schema().name(),
                        " would write to the weight of an adapted layer; "
                        "write to the parameter of the model, or merge first");
      value = Plain(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& item : value.toTensorVector()) {
        list.push_back(Plain(item));
      }
      value = std::move(list);
    }
  }
  op.callBoxed(stack);
}

void ClaimKey() {
  // Never released: an adapted weight may live until the process ends.
  [[maybe_unused]] static const torch::Library* const any = [] {
    auto* const library =
        new torch::Library(torch::Library::IMPL, "_", kKey, __FILE__, __LINE__);
    library->fallback(torch::CppFunction::makeFromBoxedFunction<&Other>());
    return library;
  }();
  [[maybe_unused]] static const torch::Library* const aten = [] {
    auto* const library = new torch::Library(torch::Library::IMPL, "aten", kKey,
                                             __FILE__, __LINE__);
    library->impl("t", &Transposed);
    library->impl("matmul", &Matmul);
    library->impl("addmm", &Addmm);
    library->impl("linear", &Linear);
    library->impl("conv2d", &Conv2d<at::IntArrayRef>);
    library->impl("conv2d.padding", &Conv2d<std::string_view>);
    library->impl("embedding", &Embedding);
    return library;
  }();
}

}  // namespace

at::Tensor WeightChange(const LowRankChange& change) {
  switch (change.kind) {
    case LowRankKind::kLinear:
      return at::matmul(change.b, change.a).mul(change.scale);
    case LowRankKind::kConv2d:
      return at::matmul(change.b.flatten(1), change.a.flatten(1))
          .view(change.weight.sizes())
          .mul(change.scale);
    case LowRankKind::kEmbedding:
      return at::matmul(change.b, change.a).t().mul(change.scale);
  }
  return {};
}

at::Tensor AdaptedWeight(LowRankChange change) {
  ClaimKey();
  return at::detail::make_tensor<AdaptedImpl>(std::move(change),
                                              /*transposed=*/false);
}

}  // namespace trainyard

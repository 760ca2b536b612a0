#include "backends/testing/standin/kernels.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/testing/standin/generator.h"
#include "backends/testing/standin/random_state.h"
#include "backends/testing/standin/recorded.h"
#include "backends/testing/standin/runtime.h"

namespace trainyard::standin {
namespace {

using c10::OperatorHandle;
using torch::jit::Stack;

// On CUDA they need a number or a size on the host.
const std::set<std::string>& WaitingOperators() {
  static const auto* const names = new std::set<std::string>{
      "aten::nonzero",     "aten::masked_select", "aten::_unique2",
      "aten::_unique",     "aten::unique_dim",    "aten::unique_consecutive",
      "aten::equal",       "aten::bincount",      "aten::nonzero_static",
      "aten::histc",       "aten::_ctc_loss",     "aten::repeat_interleave",
      "aten::nonzero_out", "aten::segment_reduce"};
  return *names;
}

bool StartsWith(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

// Whether CUDA's operator takes a scalar on the host beside device tensors.
bool TakesHostScalars(const OperatorHandle& op, const std::string& name) {
  static const auto* const names = new std::set<std::string>{
      "aten::fill_",      "aten::masked_fill_", "aten::masked_fill",
      "aten::index_fill", "aten::index_fill_",  "aten::_index_put_impl_",
      "aten::where"};
  return op.hasTag(at::Tag::pointwise) || StartsWith(name, "aten::_foreach_") ||
         names->contains(name);
}

// Whether CUDA's operator copies an index on the host to the device.
bool TakesHostIndices(const std::string& name) {
  return name == "aten::index" || name == "aten::index_put_" ||
         name == "aten::_index_put_impl_" || name == "aten::_unsafe_index";
}

// The tensors of an argument. Changes `value` to tensors on the host.
class Arguments {
 public:
  Arguments(const OperatorHandle& op, std::vector<c10::IValue> values)
      : op_(op), name_(op.schema().name()), values_(std::move(values)) {
    for (const c10::IValue& value : values_) {
      ForEach(value, [&](const at::Tensor& tensor) { FindDevice(tensor); });
      if (value.isDevice() && value.toDevice().type() == kType && !device_) {
        device_ = value.toDevice();
      }
    }
    if (!device_) device_ = c10::Device(kType, Runtime::Get().current_device());
    for (const c10::IValue& value : values_) {
      ForEach(value, [&](const at::Tensor& tensor) { CheckDevice(tensor); });
    }
  }

  const std::vector<c10::IValue>& values() const { return values_; }
  c10::Device device() const { return *device_; }

  bool Writes(size_t i) const {
    const auto* alias = op_.schema().arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite()) return true;
    // The running statistics, which the schema does not mark.
    return (name_ == "aten::native_batch_norm" && (i == 3 || i == 4) &&
            values_[5].isBool() && values_[5].toBool());
  }

  // Opens the memory of all tensors.
  void Use(Kernel& kernel) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      ForEach(values_[i], [&](const at::Tensor& tensor) {
        if (tensor.is_cpu()) return;
        if (Writes(i)) {
          kernel.Writes(tensor);
        } else {
          kernel.Reads(tensor);
        }
      });
    }
  }

  // The arguments for the CPU's kernel. Outputs, which it may resize, are new.
  Stack Host() const {
    Stack host;
    for (size_t i = 0; i < values_.size(); ++i) {
      host.push_back(IsOut(i) ? c10::IValue(at::empty(
                                    {0}, OutOf(i).options().device(c10::kCPU)))
                              : HostValue(values_[i]));
    }
    return host;
  }

  // Copies the outputs in `host`, which Host returned.
  void CopyOutputs(Kernel& kernel, const Stack& host) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!IsOut(i)) continue;
      const at::Tensor& result = host[i].toTensor();
      const at::Tensor out = OutOf(i);
      if (out.sizes() != result.sizes()) out.resize_(result.sizes());
      kernel.Writes(out);
      OnHost(out).copy_(result);
    }
  }

 private:
  template <class Function>
  static void ForEach(const c10::IValue& value, const Function& function) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) function(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) function(tensor);
    } else if (value.isOptionalTensorList()) {
      for (const std::optional<at::Tensor> tensor :
           value.toOptionalTensorList()) {
        if (tensor && tensor->defined()) function(*tensor);
      }
    }
  }

  bool IsOut(size_t i) const {
    return op_.schema().arguments()[i].is_out() && values_[i].isTensor();
  }
  at::Tensor OutOf(size_t i) const { return values_[i].toTensor(); }

  void FindDevice(const at::Tensor& tensor) {
    if (tensor.device().type() == kType && !device_) device_ = tensor.device();
  }

  void CheckDevice(const at::Tensor& tensor) const {
    if (tensor.device() == *device_) return;
    if (tensor.is_cpu() && tensor.dim() == 0 && TakesHostScalars(op_, name_)) {
      return;
    }
    if (tensor.is_cpu() && TakesHostIndices(name_)) {
      Runtime::Get().CountCopy(/*to_device=*/true, tensor.nbytes());
      Runtime::Get().HostWaits(Runtime::Get().CurrentStream(device_->index()),
                               name_ + " of indices on the host");
      return;
    }
    TORCH_CHECK(false, "Expected all tensors to be on the same device, but ",
                name_, " got tensors on ", *device_, " and ", tensor.device());
  }

  c10::IValue HostValue(const c10::IValue& value) const {
    if (value.isTensor()) return OnHost(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        list.push_back(OnHost(tensor));
      }
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor> tensor :
           value.toOptionalTensorList()) {
        list.push_back(tensor ? std::optional(OnHost(*tensor)) : std::nullopt);
      }
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == kType) {
      return c10::Device(c10::kCPU);
    }
    if (value.isGenerator()) return HostGenerator(value.toGenerator());
    return value;
  }

  const OperatorHandle& op_;
  const std::string name_;
  const std::vector<c10::IValue> values_;
  std::optional<c10::Device> device_;
};

at::Tensor NewLike(const at::Tensor& host, c10::Device device) {
  return at::empty_strided(host.sizes(), host.strides(),
                           host.options().device(device));
}

// The index of the argument that result i is, if it is one.
std::optional<size_t> AliasOf(const c10::FunctionSchema& schema, size_t i) {
  const auto* result = schema.returns()[i].alias_info();
  if (result == nullptr) return std::nullopt;
  TORCH_CHECK_NOT_IMPLEMENTED(result->isWrite(),
                              "standin: there is no kernel for the view ",
                              schema.name(), "; add it to memory_kernels.cc");
  for (size_t k = 0; k < schema.arguments().size(); ++k) {
    const auto* argument = schema.arguments()[k].alias_info();
    if (argument != nullptr && argument->isWrite() &&
        argument->beforeSets() == result->beforeSets()) {
      return k;
    }
  }
  return std::nullopt;
}

// Runs the CPU's operator `op` on the arguments.
class HostRun {
 public:
  HostRun(const OperatorHandle& op, const std::vector<c10::IValue>& values)
      : op_(op), arguments_(op_, values) {}

  void Run(Stack& stack) {
    const std::string& name = op_.schema().name();
    const OperatorName operation(name);
    const c10::DeviceGuard guard(arguments_.device());
    {
      Kernel kernel(name, arguments_.device().index());
      arguments_.Use(kernel);
      const Stack host = Compute(kernel);
      Collect(kernel, host, stack);
    }
    if (WaitingOperators().contains(name)) {
      Runtime::Get().HostWaits(
          Runtime::Get().CurrentStream(arguments_.device().index()), name);
    }
  }

  // The same work on the same tensors, for graphs.
  void Repeat(const std::vector<at::Tensor>& results) {
    const std::string& name = op_.schema().name();
    Kernel kernel(name, arguments_.device().index());
    arguments_.Use(kernel);
    const Stack host = Compute(kernel);
    size_t next = 0;
    const auto write = [&](const at::Tensor& result) {
      kernel.Writes(results[next]);
      OnHost(results[next]).copy_(result);
      ++next;
    };
    for (size_t i = 0; i < host.size(); ++i) {
      if (AliasOf(op_.schema(), i)) continue;
      if (host[i].isTensor() && host[i].toTensor().defined()) {
        write(host[i].toTensor());
      } else if (host[i].isTensorList()) {
        for (const at::Tensor& tensor : host[i].toTensorVector()) write(tensor);
      }
    }
  }

  c10::DeviceIndex device() const { return arguments_.device().index(); }
  const std::vector<at::Tensor>& results() const { return results_; }

 private:
  Stack Compute(Kernel& kernel) const {
    Stack host = arguments_.Host();
    const Stack before = host;
    const at::AutoDispatchBelowADInplaceOrView below;
    {
      const RandomState random(op_, arguments_.device().index(), host);
      op_.callBoxed(host);
    }
    arguments_.CopyOutputs(kernel, before);
    return host;
  }

  at::Tensor Back(Kernel& kernel, const at::Tensor& host) {
    if (!host.defined()) return host;
    const at::Tensor result = NewLike(host, arguments_.device());
    kernel.Writes(result);
    OnHost(result).copy_(host);
    results_.push_back(result);
    return result;
  }

  void Collect(Kernel& kernel, const Stack& host, Stack& stack) {
    for (size_t i = 0; i < host.size(); ++i) {
      if (const auto argument = AliasOf(op_.schema(), i)) {
        stack.push_back(arguments_.values()[*argument]);
      } else if (host[i].isTensor()) {
        stack.emplace_back(Back(kernel, host[i].toTensor()));
      } else if (host[i].isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : host[i].toTensorVector()) {
          list.push_back(Back(kernel, tensor));
        }
        stack.emplace_back(std::move(list));
      } else {
        stack.push_back(host[i]);
      }
    }
  }

  const OperatorHandle op_;
  const Arguments arguments_;
  std::vector<at::Tensor> results_;
};

void RunOnHost(const OperatorHandle& op, std::vector<c10::IValue> values,
               Stack& stack) {
  HostRun run(op, values);
  run.Run(stack);
  if (!Runtime::Get().Captures(run.device())) return;
  Runtime::Get().AddReplay(
      [op, recorded = Recorded(values), results = Recorded(run.results())] {
        HostRun(op, recorded).Repeat(results);
      });
}

std::vector<c10::IValue> Pop(const OperatorHandle& op, Stack& stack) {
  const size_t count = op.schema().arguments().size();
  std::vector<c10::IValue> values = torch::jit::last(stack, count).vec();
  torch::jit::drop(stack, count);
  return values;
}

void Fallback(const OperatorHandle& op, Stack* stack) {
  RunOnHost(op, Pop(op, *stack), *stack);
}

OperatorHandle Find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
}

void Convolution(const OperatorHandle& op, Stack* stack) {
  RunOnHost(Find("aten::convolution"), Pop(op, *stack), *stack);
}

void ConvolutionBackward(const OperatorHandle& op, Stack* stack) {
  std::vector<c10::IValue> values = Pop(op, *stack);
  // The CPU's takes the shape of the bias after the weight.
  const at::Tensor& weight = values[2].toTensor();
  const bool transposed = values[6].toBool();
  const int64_t channels =
      transposed ? weight.size(1) * values[8].toInt() : weight.size(0);
  values.insert(values.begin() + 3, std::vector<int64_t>{channels});
  RunOnHost(Find("aten::convolution_backward"), std::move(values), *stack);
}

}  // namespace

void RegisterKernels() {
  using torch::CppFunction;
  using torch::Library;
  const auto key = c10::DispatchKey::PrivateUse1;
  // Registrations end with the object, so it is never destroyed.
  static auto& all = *new Library(Library::IMPL, "_", key, __FILE__, __LINE__);
  all.fallback(CppFunction::makeFromBoxedFunction<&Fallback>());
  static auto& aten =
      *new Library(Library::IMPL, "aten", key, __FILE__, __LINE__);
  aten.impl("convolution_overrideable",
            CppFunction::makeFromBoxedFunction<&Convolution>());
  aten.impl("convolution_backward_overrideable",
            CppFunction::makeFromBoxedFunction<&ConvolutionBackward>());
  // They would be put together of others, which rounds differently.
  for (const char* name : {"native_layer_norm", "native_group_norm"}) {
    aten.impl(name, CppFunction::makeFromBoxedFunction<&Fallback>());
  }
}

}  // namespace trainyard::standin

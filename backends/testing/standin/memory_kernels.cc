// The kernels that make, copy, resize and view memory.
#include <ATen/EmptyTensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>
#include <utility>

#include "backends/testing/standin/kernels.h"
#include "backends/testing/standin/recorded.h"
#include "backends/testing/standin/runtime.h"

namespace trainyard::standin {
namespace {

using OptionalType = std::optional<at::ScalarType>;
using OptionalLayout = std::optional<at::Layout>;
using OptionalDevice = std::optional<at::Device>;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

c10::Device DeviceOr(const OptionalDevice& device) {
  if (device && device->has_index()) return *device;
  return {kType, Runtime::Get().current_device()};
}

at::Tensor Empty(c10::SymIntArrayRef size, OptionalType type, OptionalLayout,
                 OptionalDevice device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(DeviceOr(device));
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size),
                                   Runtime::Get().allocator(), kKeys,
                                   c10::dtype_or_default(type), format);
}

at::Tensor EmptyStrided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                        OptionalType type, OptionalLayout,
                        OptionalDevice device, std::optional<bool>) {
  const c10::DeviceGuard guard(DeviceOr(device));
  return at::detail::empty_strided_generic(
      C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
      Runtime::Get().allocator(), kKeys, c10::dtype_or_default(type));
}

const at::Tensor& Resize(const at::Tensor& self, c10::SymIntArrayRef sizes,
                         std::optional<at::MemoryFormat> format) {
  const c10::IntArrayRef size = C10_AS_INTARRAYREF_SLOW(sizes);
  if (self.sizes() == size) return self;
  c10::TensorImpl* const impl = self.unsafeGetTensorImpl();
  const size_t needed = at::detail::computeStorageNbytesContiguous(
      size, self.element_size(), self.storage_offset());
  c10::StorageImpl* const storage = self.storage().unsafeGetStorageImpl();
  if (needed > storage->nbytes()) {
    const c10::DeviceGuard guard(self.device());
    // The old elements stay, as the first ones.
    const at::Tensor old = at::empty({0}, self.options());
    old.unsafeGetTensorImpl()->set_storage_keep_dtype(c10::Storage(
        c10::Storage::use_byte_size_t(), storage->nbytes(),
        storage->set_data_ptr(Runtime::Get().allocator()->allocate(needed)),
        nullptr, /*resizable=*/false));
    storage->set_nbytes(needed);
    old.unsafeGetTensorImpl()->set_sizes_contiguous(
        {static_cast<int64_t>(old.storage().nbytes()) /
         static_cast<int64_t>(self.element_size())});
    if (old.numel() > 0) {
      impl->set_sizes_contiguous(old.sizes());
      CopyFrom(old, self, /*non_blocking=*/true);
    }
  }
  impl->set_sizes_contiguous(size);
  if (format && *format != at::MemoryFormat::Preserve) {
    impl->empty_tensor_restride(*format);
  }
  return self;
}

at::Tensor View(const at::Tensor& self, c10::SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}

at::Tensor AsStrided(const at::Tensor& self, c10::SymIntArrayRef size,
                     c10::SymIntArrayRef stride,
                     std::optional<c10::SymInt> offset) {
  return at::native::as_strided_tensorimpl(
      self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
      offset ? std::optional<int64_t>(offset->expect_int()) : std::nullopt);
}

at::Tensor ReshapeAlias(const at::Tensor& self, c10::SymIntArrayRef size,
                        c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(size),
                                    C10_AS_INTARRAYREF_SLOW(stride));
}

at::Tensor& SetStorage(at::Tensor& self, at::Storage storage,
                       c10::SymInt offset, c10::SymIntArrayRef size,
                       c10::SymIntArrayRef stride) {
  c10::TensorImpl* const impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(storage));
  impl->set_storage_offset(offset.expect_int());
  if (stride.empty()) {
    impl->set_sizes_contiguous(C10_AS_INTARRAYREF_SLOW(size));
  } else {
    impl->set_sizes_and_strides(C10_AS_INTARRAYREF_SLOW(size),
                                C10_AS_INTARRAYREF_SLOW(stride));
  }
  return self;
}

// The number is copied to the host, which waits for it.
at::Scalar ReadScalar(const at::Tensor& self) {
  Runtime& runtime = Runtime::Get();
  const c10::Stream stream = runtime.CurrentStream(self.device().index());
  runtime.HostWaits(stream, "aten::_local_scalar_dense");
  runtime.CountCopy(/*to_device=*/false, self.nbytes());
  const at::Scalar value = [&] {
    Kernel kernel("aten::_local_scalar_dense", stream);
    kernel.Reads(self);
    return OnHost(self).item();
  }();
  runtime.HostIsDoneWith(stream);
  return value;
}

void RecordStream(at::Tensor& self, at::Stream stream) {
  Runtime::Get().RecordStream(self.storage().data(), stream);
}

bool Plain(const at::Tensor& from, const at::Tensor& to) {
  return from.scalar_type() == to.scalar_type() && from.sizes() == to.sizes() &&
         from.strides() == to.strides() &&
         from.is_non_overlapping_and_dense() && !from.is_conj() &&
         !from.is_neg();
}

// Between the memory of one device; also converts.
void CopyOnDevice(const at::Tensor& from, const at::Tensor& to) {
  const auto run = [](const at::Tensor& source, const at::Tensor& target) {
    Kernel kernel("aten::copy_", target.device().index());
    kernel.Reads(source);
    kernel.Writes(target);
    OnHost(target).copy_(OnHost(source));
  };
  run(from, to);
  if (!Runtime::Get().Captures(to.device().index())) return;
  Runtime::Get().AddReplay(
      [run, from = Recorded(from), to = Recorded(to)] { run(from, to); });
}

// Between two devices: both current streams take part.
void CopyBetweenDevices(const at::Tensor& from, const at::Tensor& to) {
  Runtime& runtime = Runtime::Get();
  const c10::Stream sending = runtime.CurrentStream(from.device().index());
  const c10::Stream receiving = runtime.CurrentStream(to.device().index());
  TORCH_CHECK_NOT_IMPLEMENTED(
      !runtime.Captures(sending) && !runtime.Captures(receiving),
      "standin: a copy between devices cannot be captured");
  runtime.StreamWaits(sending, runtime.Record(receiving));
  {
    Kernel kernel("aten::copy_ between devices", sending);
    kernel.Reads(from);
    kernel.Writes(to);
    OnHost(to).copy_(OnHost(from));
  }
  runtime.StreamWaits(receiving, runtime.Record(sending));
}

// Between host and device, of the same type and strides.
void Transfer(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  Runtime& runtime = Runtime::Get();
  const bool to_device = from.is_cpu();
  const at::Tensor& host = to_device ? from : to;
  const at::Tensor& device = to_device ? to : from;
  const std::string name =
      to_device ? "the copy to the device" : "the copy to the host";
  const c10::Stream stream = runtime.CurrentStream(device.device().index());
  const bool pinned = runtime.IsPinned(host.storage().data());
  const bool wait = !non_blocking || !pinned;
  if (wait) {
    runtime.HostWaits(
        stream, name + (pinned ? " (blocking)" : " (memory not page-locked)"));
  }
  const auto run = [=, index = device.device().index()](
                       const at::Tensor& source, const at::Tensor& target) {
    Runtime::Get().CountCopy(to_device, source.nbytes());
    Kernel kernel(name, Runtime::Get().CurrentStream(index));
    kernel.Reads(source);
    kernel.Writes(target);
    OnHost(target).copy_(OnHost(source));
  };
  run(from, to);
  if (runtime.Captures(stream)) {
    runtime.AddReplay(
        [run, from = Recorded(from), to = Recorded(to)] { run(from, to); });
  }
  // The work itself is behind the first wait, which is the one that counts.
  if (wait) runtime.HostIsDoneWith(stream);
}

}  // namespace

at::Tensor OnHost(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.device().type() != kType) return tensor;
  const auto size = static_cast<int64_t>(tensor.element_size());
  const at::Tensor bytes =
      at::from_blob(const_cast<void*>(tensor.storage().data()),
                    {static_cast<int64_t>(tensor.storage().nbytes()) / size},
                    at::TensorOptions(tensor.scalar_type()));
  const at::AutoDispatchBelowADInplaceOrView below;
  at::Tensor host = bytes.as_strided(tensor.sizes(), tensor.strides(),
                                     tensor.storage_offset());
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    host.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return host;
}

at::Tensor CopyFrom(const at::Tensor& source, const at::Tensor& to,
                    bool non_blocking) {
  const OperatorName operation("aten::copy_");
  if (to.numel() == 0) return to;
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::Tensor from = source.expand_as(to);
  if (!from.is_cpu() && !to.is_cpu()) {
    if (from.device() == to.device()) {
      CopyOnDevice(from, to);
    } else {
      CopyBetweenDevices(from, to);
    }
    return to;
  }
  if (Plain(from, to)) {
    Transfer(from, to, non_blocking);
    return to;
  }
  // A non-blocking copy converts on the device, a blocking one on the host.
  const bool convert_first = from.is_cpu() != non_blocking;
  const at::Tensor sent =
      (convert_first ? from.to(to.scalar_type()) : from).contiguous();
  const bool direct =
      to.is_contiguous() && sent.scalar_type() == to.scalar_type();
  const at::Tensor received =
      direct ? to
             : at::empty(to.sizes(), to.options().dtype(sent.scalar_type()));
  Transfer(sent, received, non_blocking);
  if (!direct) {
    if (to.is_cpu()) {
      const_cast<at::Tensor&>(to).copy_(received);
    } else {
      CopyOnDevice(received, to);
    }
  }
  return to;
}

void RegisterMemoryKernels() {
  using torch::Library;
  static auto& aten = *new Library(
      Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  aten.impl("empty.memory_format", Empty);
  aten.impl("empty_strided", EmptyStrided);
  aten.impl("resize_", Resize);
  aten.impl("_copy_from", CopyFrom);
  aten.impl("_local_scalar_dense", ReadScalar);
  aten.impl("record_stream", RecordStream);
  aten.impl("view", View);
  aten.impl("as_strided", AsStrided);
  aten.impl("_reshape_alias", ReshapeAlias);
  aten.impl("unfold", at::native::unfold);
  aten.impl("view_as_real", at::native::view_as_real);
  aten.impl("view_as_complex", at::native::view_as_complex);
  aten.impl("set_.source_Storage_storage_offset", SetStorage);
  aten.impl("_has_compatible_shallow_copy_type",
            [](const at::Tensor&, const at::Tensor& from) {
              return from.is_cpu() || from.device().type() == kType;
            });
}

}  // namespace trainyard::standin

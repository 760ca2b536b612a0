#include "trainer/checkpoint/parts/snapshot.h"

#include <ATen/ops/empty.h>
#include <absl/strings/str_cat.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/checkpoint/step_share.h"
#include "trainer/in_parallel.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

// What a thread copies at a time.
constexpr size_t kPiece = size_t{1} << 20;

}  // namespace

at::Tensor Snapshot::Copy(const std::string& key, const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != at::kStrided ||
      tensor.is_meta()) {
    return tensor;  // the checkpointer reports the error
  }
  at::Tensor& buffer = used_[key];
  const auto old = buffers_.find(key);
  if (old != buffers_.end() && old->second.sizes() == tensor.sizes() &&
      old->second.scalar_type() == tensor.scalar_type()) {
    buffer = old->second;
  } else {
    buffer = at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type())
                                           .pinned_memory(!tensor.is_cpu()));
  }
  // Without elements there is nothing that memcpy may be given.
  const bool plain = tensor.numel() > 0 && tensor.is_cpu() &&
                     tensor.is_contiguous() && !tensor.is_conj() &&
                     !tensor.is_neg();
  if (plain) {
    const auto* from = static_cast<const std::byte*>(tensor.const_data_ptr());
    auto* to = static_cast<std::byte*>(buffer.mutable_data_ptr());
    for (size_t at = 0; at < tensor.nbytes(); at += kPiece) {
      bytes_.push_back(
          {from + at, to + at, std::min(kPiece, tensor.nbytes() - at)});
    }
  } else {
    buffer.copy_(tensor.detach(), /*non_blocking=*/true);
    if (!tensor.is_cpu()) devices_.insert(tensor.device());
  }
  return buffer;
}

void Snapshot::CopyBytes() {
  InParallel(static_cast<int64_t>(bytes_.size()), [&](int64_t i) {
    const Bytes& piece = bytes_[static_cast<size_t>(i)];
    std::memcpy(piece.to, piece.from, piece.size);
  });
}

void Snapshot::RecordCopies() {
  for (const at::Device& device : std::exchange(devices_, {})) {
    copied_.emplace_back(device.type());
    copied_.back().record(
        c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  }
}

const Checkpoint& Snapshot::checkpoint() const {
  for (const c10::Event& event : copied_) event.synchronize();
  return checkpoint_;
}

absl::Status Snapshot::Take(const Checkpoint& checkpoint,
                            const RankShare& share) {
  try {
    used_.clear();
    copied_.clear();
    bytes_.clear();
    // Everything except tensors is small and copied first, then the tensors.
    checkpoint_ = checkpoint;
    for (auto& [group, tensors] : checkpoint_.tensors) {
      const std::vector<int> writers = WritersOf(tensors, share.world_size);
      for (size_t i = 0; i < tensors.size(); ++i) {
        if (writers[i] != share.rank) continue;
        NamedTensor& item = tensors[i];
        item.tensor = Copy(group + "/" + item.name, item.tensor);
      }
    }
    for (auto& [group, slices] : checkpoint_.slices) {
      for (TensorSlice& slice : slices) {
        slice.values = Copy(group + "/" + slice.name, slice.values);
      }
    }
    for (auto& [part, state] : checkpoint_.parts) {
      State copy(state.version());
      for (const auto& [name, value] : state.values()) {
        const auto* tensor =
            std::get_if<std::shared_ptr<const at::Tensor>>(&value);
        if (tensor == nullptr) {
          copy.Set(name, value);
        } else {
          // No group is called "state".
          SetTensor(copy, name, Copy("state/" + part + "/" + name, **tensor));
        }
      }
      state = std::move(copy);
    }
    CopyBytes();
    // Drops the buffers of tensors that no longer exist.
    std::swap(buffers_, used_);
    used_.clear();
    RecordCopies();
    return absl::OkStatus();
  } catch (const c10::Error& error) {
    checkpoint_ = Checkpoint();
    return absl::ResourceExhaustedError(absl::StrCat(
        "the state cannot be copied: ", error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    checkpoint_ = Checkpoint();
    return absl::ResourceExhaustedError(
        "the state cannot be copied: there is no memory for it");
  }
}

}  // namespace trainyard

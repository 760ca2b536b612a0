#include "backends/compression.h"

#include <ATen/core/jit_type.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <vector>

namespace trainyard {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

class Bf16Hook final : public c10d::CppCommHookInterface<Group> {
 public:
  using CppCommHookInterface::CppCommHookInterface;

  c10::intrusive_ptr<c10::ivalue::Future> runHook(
      c10d::GradBucket& bucket) override {
    at::Tensor buffer = bucket.getBufferRef();
    // Divided first: the sum cannot overflow what the parts did not.
    std::vector<at::Tensor> sent = {
        buffer.div(state_->getSize()).to(at::kBFloat16)};
    return state_->allreduce(sent)->getFuture()->then(
        [buffer](c10::ivalue::Future& done) {
          buffer.copy_(c10d::detail::parseCppCommHookResult(done.value()));
          return c10::IValue(buffer);
        },
        c10::TensorType::get());
  }
};

}  // namespace

std::unique_ptr<c10d::CommHookInterface> MakeBf16Hook(const Group& group) {
  return std::make_unique<Bf16Hook>(group);
}

}  // namespace trainyard

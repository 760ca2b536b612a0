#include "backends/processes/shared_backend.h"

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

using c10d::OpType;
using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Parts = SharedExchange::Parts;
using Read = std::function<void(const Parts&)>;
using Op = c10d::ReduceOp::RedOpType;

// Keeps the exchanges that it completes alive.
class SharedWork final : public c10d::Work {
 public:
  SharedWork(int rank, OpType type, std::shared_ptr<OpenExchanges> open,
             uint32_t number, Tensors result)
      : Work(rank, type),
        open_(std::move(open)),
        number_(number),
        result_(std::move(result)) {}

  bool isCompleted() override { return wait(kNoTimeout); }
  bool isSuccess() const override { return completed_; }
  Tensors result() override { return result_; }
  void synchronize() override { wait(kNoTimeout); }
  bool wait(std::chrono::milliseconds) override {
    if (!completed_) open_->CompleteUpTo(number_);
    completed_ = true;
    return true;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    wait(kNoTimeout);
    auto future = c10::make_intrusive<c10::ivalue::Future>(
        c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(c10::IValue(result_));
    return future;
  }

 private:
  const std::shared_ptr<OpenExchanges> open_;
  const uint32_t number_;
  const Tensors result_;
};

uint64_t Tag(OpType type, uint64_t detail = 0, uint64_t bytes = 0) {
  return (static_cast<uint64_t>(type) << 56) | (detail << 48) | bytes;
}

at::Tensor Flat(const at::Tensor& tensor) {
  return tensor.detach().contiguous().view({-1});
}

size_t BytesOf(const at::Tensor& tensor) {
  return static_cast<size_t>(tensor.nbytes());
}

// A part as a tensor like `flat`.
at::Tensor TensorOf(const SharedExchange::Part& part, const at::Tensor& flat) {
  return at::from_blob(const_cast<std::byte*>(part.data), {flat.numel()},
                       flat.options());
}

bool CanReduce(const at::Tensor& tensor, Op op) {
  return tensor.layout() == at::kStrided && tensor.scalar_type() != at::kBool &&
         (op == Op::SUM || op == Op::AVG || op == Op::MIN || op == Op::MAX ||
          op == Op::PRODUCT);
}

// Writes the bytes of a tensor, if it is sent.
OpenExchanges::Write CopyOf(const at::Tensor& piece, bool sends) {
  return [piece, sends](std::byte* to) {
    if (sends && piece.numel() > 0) {
      std::memcpy(to, piece.const_data_ptr(), BytesOf(piece));
    }
  };
}

// Reduces the parts of all ranks, in their order, into `flat`. `offset` is in
// bytes of each part.
void ReduceParts(const Parts& parts, size_t offset, Op op, at::Tensor flat) {
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const at::Tensor next =
        TensorOf({parts[rank].data + offset, BytesOf(flat)}, flat);
    if (rank == 0) {
      flat.copy_(next);
    } else if (op == Op::MIN) {
      at::minimum_out(flat, flat, next);
    } else if (op == Op::MAX) {
      at::maximum_out(flat, flat, next);
    } else if (op == Op::PRODUCT) {
      flat.mul_(next);
    } else {
      flat.add_(next);
    }
  }
  if (op == Op::AVG) flat.div_(static_cast<int64_t>(parts.size()));
}

class SharedBackend final : public c10d::Backend {
 public:
  SharedBackend(std::shared_ptr<OpenExchanges> open,
                std::function<c10::intrusive_ptr<c10d::Backend>()> make_other)
      : Backend(static_cast<int>(open->exchange().ranks().rank()),
                static_cast<int>(open->exchange().ranks().size())),
        open_(std::move(open)),
        make_other_(std::move(make_other)) {}

  const std::string getBackendName() const override { return "shared_memory"; }

  WorkPtr allreduce(Tensors& tensors,
                    const c10d::AllreduceOptions& options) override {
    const at::NoGradGuard no_gradients;
    at::Tensor& tensor = Only(tensors);
    const Op op = options.reduceOp.op_;
    if (!CanReduce(tensor, op)) return Other().allreduce(tensors, options);
    const at::Tensor flat = Flat(tensor);
    const auto detail = static_cast<uint64_t>(op);
    uint32_t number = 0;
    for (const at::Tensor& piece : Pieces(flat, 1)) {
      number = Post(Tag(OpType::ALLREDUCE, detail, BytesOf(piece)), piece,
                    [piece, op](const Parts& parts) {
                      ReduceParts(parts, 0, op, piece);
                    });
    }
    return Result(OpType::ALLREDUCE, number, tensors,
                  CopyBack(flat, tensor, number));
  }

  WorkPtr broadcast(Tensors& tensors,
                    const c10d::BroadcastOptions& options) override {
    const at::NoGradGuard no_gradients;
    at::Tensor& tensor = Only(tensors);
    const auto root = static_cast<size_t>(options.rootRank);
    const bool sends = options.rootRank == getRank();
    const at::Tensor flat = Flat(tensor);
    uint32_t number = 0;
    for (const at::Tensor& piece : Pieces(flat, 1)) {
      number = open_->Post(Tag(OpType::BROADCAST, root, BytesOf(piece)),
                           sends ? BytesOf(piece) : 0, CopyOf(piece, sends),
                           [piece, root](const Parts& parts) {
                             std::memcpy(piece.mutable_data_ptr(),
                                         parts[root].data, BytesOf(piece));
                           });
      open_->CompleteUpTo(number);
    }
    CopyBack(flat, tensor, number);
    return Result(OpType::BROADCAST, number, tensors, kDone);
  }

  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                    const c10d::AllgatherOptions&) override {
    const at::NoGradGuard no_gradients;
    return Gather(OpType::ALLGATHER, Only(inputs), outputs.at(0));
  }

  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions&) override {
    const at::NoGradGuard no_gradients;
    TORCH_CHECK_VALUE(
        output.is_contiguous() && output.numel() == input.numel() * getSize(),
        "_allgather_base: the output must be contiguous and ", getSize(),
        " times as large as the input");
    return Gather(OpType::_ALLGATHER_BASE, input,
                  output.detach().view({getSize(), -1}).unbind(0));
  }

  WorkPtr _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input,
      const c10d::ReduceScatterOptions& options) override {
    const at::NoGradGuard no_gradients;
    const Op op = options.reduceOp.op_;
    TORCH_CHECK_VALUE(
        output.is_contiguous() && input.numel() == output.numel() * getSize(),
        "_reduce_scatter_base: the output must be contiguous, "
        "the input ",
        getSize(), " times as large");
    if (!CanReduce(input, op)) {
      return Other()._reduce_scatter_base(output, input, options);
    }
    const at::Tensor flat = output.detach().view({-1});
    const at::Tensor rows = Flat(input).view({getSize(), -1});
    int64_t begin = 0;
    uint32_t number = 0;
    for (const at::Tensor& piece : Pieces(flat, getSize())) {
      const at::Tensor sent = rows.narrow(1, begin, piece.numel()).contiguous();
      begin += piece.numel();
      const size_t offset = BytesOf(piece) * static_cast<size_t>(getRank());
      number = Post(Tag(OpType::_REDUCE_SCATTER_BASE, static_cast<uint64_t>(op),
                        BytesOf(piece)),
                    sent, [piece, op, offset](const Parts& parts) {
                      ReduceParts(parts, offset, op, piece);
                    });
    }
    return Result(OpType::_REDUCE_SCATTER_BASE, number, {output}, kDone);
  }

  WorkPtr barrier(const c10d::BarrierOptions&) override {
    const uint32_t number = open_->Post(
        Tag(OpType::BARRIER), 0, [](std::byte*) {}, [](const Parts&) {});
    return Result(OpType::BARRIER, number, {}, kDone);
  }

  // ---- What shared memory has no code for.

  WorkPtr allreduce_coalesced(
      Tensors& tensors,
      const c10d::AllreduceCoalescedOptions& options) override {
    return Other().allreduce_coalesced(tensors, options);
  }
  WorkPtr reduce(Tensors& tensors,
                 const c10d::ReduceOptions& options) override {
    return Other().reduce(tensors, options);
  }
  WorkPtr allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) override {
    return Other().allgather_coalesced(outputs, inputs, options);
  }
  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::GatherOptions& options) override {
    return Other().gather(outputs, inputs, options);
  }
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                  const c10d::ScatterOptions& options) override {
    return Other().scatter(outputs, inputs, options);
  }
  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const c10d::ReduceScatterOptions& options) override {
    return Other().reduce_scatter(outputs, inputs, options);
  }
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input,
                        std::vector<int64_t>& output_sizes,
                        std::vector<int64_t>& input_sizes,
                        const c10d::AllToAllOptions& options) override {
    return Other().alltoall_base(output, input, output_sizes, input_sizes,
                                 options);
  }
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs,
                   const c10d::AllToAllOptions& options) override {
    return Other().alltoall(outputs, inputs, options);
  }

 private:
  // More bytes than work that is left to wait() can have.
  static constexpr size_t kDone = SharedExchange::kSmall + 1;

  static at::Tensor& Only(Tensors& tensors) {
    TORCH_CHECK_VALUE(tensors.size() == 1, "there are ", tensors.size(),
                      " tensors; there must be one");
    return tensors[0];
  }

  Backend& Other() {
    if (!other_) other_ = make_other_();
    return *other_;
  }

  // Splits a flat tensor so that `times` a piece fits into an area. At least
  // one piece, also of a tensor without elements: each rank posts equally
  // often.
  Tensors Pieces(const at::Tensor& flat, int64_t times) const {
    const auto limit =
        static_cast<int64_t>(open_->exchange().area() / flat.element_size()) /
        times;
    if (flat.numel() <= limit) return {flat};
    return flat.split(limit);
  }

  uint32_t Post(uint64_t tag, const at::Tensor& piece, Read read) {
    const uint32_t number =
        open_->Post(tag, BytesOf(piece), CopyOf(piece, true), std::move(read));
    if (BytesOf(piece) > SharedExchange::kSmall) open_->CompleteUpTo(number);
    return number;
  }

  WorkPtr Gather(OpType type, const at::Tensor& input, const Tensors& outputs) {
    TORCH_CHECK_VALUE(outputs.size() == static_cast<size_t>(getSize()),
                      "there are ", outputs.size(), " outputs for ", getSize(),
                      " ranks");
    for (const at::Tensor& output : outputs) {
      TORCH_CHECK_VALUE(
          output.is_contiguous() && output.nbytes() == input.nbytes(),
          "an output of shape ", output.sizes(),
          " is not contiguous or not as large as the input");
    }
    const at::Tensor flat = Flat(input);
    uint32_t number = 0;
    size_t begin = 0;
    for (const at::Tensor& piece : Pieces(flat, 1)) {
      number = Post(Tag(type, 0, BytesOf(piece)), piece,
                    [begin, outputs](const Parts& parts) {
                      CopyParts(parts, begin, outputs);
                    });
      begin += BytesOf(piece);
    }
    return Result(type, number, outputs, BytesOf(flat));
  }

  static void CopyParts(const Parts& parts, size_t begin,
                        const Tensors& outputs) {
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      if (parts[rank].bytes == 0) continue;
      std::memcpy(
          static_cast<std::byte*>(outputs[rank].mutable_data_ptr()) + begin,
          parts[rank].data, parts[rank].bytes);
    }
  }

  // If `flat` is a copy: completes the work and copies it to the tensor.
  // Returns the bytes of the work that is left.
  size_t CopyBack(const at::Tensor& flat, const at::Tensor& tensor,
                  uint32_t number) {
    if (tensor.is_contiguous()) return BytesOf(flat);
    open_->CompleteUpTo(number);
    tensor.detach().copy_(flat.view(tensor.sizes()));
    return kDone;
  }

  // Small work is left to wait().
  WorkPtr Result(OpType type, uint32_t number, const Tensors& tensors,
                 size_t bytes) {
    auto work = c10::make_intrusive<SharedWork>(getRank(), type, open_, number,
                                                tensors);
    if (bytes > SharedExchange::kSmall) work->wait(kNoTimeout);
    return work;
  }

  const std::shared_ptr<OpenExchanges> open_;
  const std::function<c10::intrusive_ptr<c10d::Backend>()> make_other_;
  c10::intrusive_ptr<c10d::Backend> other_;
};

}  // namespace

c10::intrusive_ptr<c10d::Backend> MakeSharedBackend(
    std::shared_ptr<OpenExchanges> open,
    std::function<c10::intrusive_ptr<c10d::Backend>()> make_other) {
  return c10::make_intrusive<SharedBackend>(std::move(open),
                                            std::move(make_other));
}

}  // namespace trainyard

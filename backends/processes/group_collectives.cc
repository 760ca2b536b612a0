#include "backends/processes/group_collectives.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>

#include "backends/processes/call_check.h"
#include "backends/processes/call_log.h"
#include "backends/processes/rank_record.h"

namespace trainyard {
namespace {

c10d::ReduceOp C10dOp(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMean:  // gloo has no mean: it is divided afterwards
      return c10d::ReduceOp::SUM;
    case ReduceOp::kMin:
      return c10d::ReduceOp::MIN;
    case ReduceOp::kMax:
      return c10d::ReduceOp::MAX;
  }
  C10_THROW_ERROR(ValueError, "there is no such ReduceOp");
}

// Half precision is added up in single, and written back rounded once.
at::Tensor ToReduce(const at::Tensor& tensor) {
  const at::ScalarType type = tensor.scalar_type();
  TORCH_CHECK_VALUE(type != at::kBool,
                    "AllReduce: the tensor is of type Bool; convert it to the "
                    "type that the result is to have");
  return type == at::kHalf || type == at::kBFloat16
             ? tensor.to(at::kFloat).contiguous()
             : tensor.contiguous();
}

CallSubject SubjectOf(const char* what, const at::Tensor& tensor) {
  CallSubject subject = {.what = what,
                         .type = c10::toString(tensor.scalar_type()),
                         .dim = static_cast<size_t>(tensor.dim())};
  for (size_t i = 0; i < std::min(subject.dim, CallSubject::kMostSizes); ++i) {
    subject.sizes[i] = tensor.size(static_cast<int64_t>(i));
  }
  return subject;
}

// The tensor's memory, whatever its type.
at::Tensor Bytes(const at::Tensor& tensor) {
  return tensor.contiguous().reshape({-1}).view(at::kByte);
}

class GroupCollectives final : public Collectives {
 public:
  explicit GroupCollectives(ProcessGroup& group)
      : group_(group), check_(group) {}
  explicit GroupCollectives(std::unique_ptr<ProcessGroup> group)
      : own_group_(std::move(group)), group_(*own_group_), check_(group_) {}

  int64_t rank() const override { return group_.rendezvous().rank; }
  int64_t local_rank() const override { return group_.rendezvous().local_rank; }
  int64_t num_processes() const override {
    return group_.rendezvous().world_size;
  }

  void AllReduce(at::Tensor& tensor, ReduceOp op, Place place) override {
    TORCH_CHECK_VALUE(tensor.defined(), "AllReduce: there is no tensor");
    const CallLog::Scope call(group_.calls(), SubjectOf("AllReduce", tensor),
                              place);
    check_.Compare({.kind = CallKind::kAllReduce,
                    .argument = static_cast<int64_t>(op),
                    .tensor = tensor},
                   place);
    if (tensor.numel() == 0) return;
    std::vector<at::Tensor> reduced = {ToReduce(tensor.detach())};
    c10d::AllreduceOptions options;
    options.reduceOp = C10dOp(op);
    group_.Guard("AllReduce",
                 [&] { group_.side()->allreduce(reduced, options)->wait(); });
    if (op == ReduceOp::kMean) reduced[0].div_(num_processes());
    if (!reduced[0].is_same(tensor)) tensor.detach().copy_(reduced[0]);
  }

  void Broadcast(at::Tensor& tensor, int64_t from, Place place) override {
    TORCH_CHECK_VALUE(tensor.defined(), "Broadcast: there is no tensor");
    TORCH_CHECK_VALUE(from >= 0 && from < num_processes(),
                      "Broadcast: there is no rank ", from, " among ",
                      num_processes());
    const CallLog::Scope call(group_.calls(), SubjectOf("Broadcast", tensor),
                              place);
    check_.Compare(
        {.kind = CallKind::kBroadcast, .argument = from, .tensor = tensor},
        place);
    if (tensor.numel() == 0) return;
    at::Tensor whole = tensor.detach().contiguous();
    std::vector<at::Tensor> sent = {Bytes(whole)};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    group_.Guard("Broadcast",
                 [&] { group_.side()->broadcast(sent, options)->wait(); });
    if (!tensor.is_contiguous()) tensor.detach().copy_(whole);
  }

  std::vector<at::Tensor> AllGather(const at::Tensor& tensor,
                                    Place place) override {
    TORCH_CHECK_VALUE(tensor.defined(), "AllGather: there is no tensor");
    const CallLog::Scope call(group_.calls(), SubjectOf("AllGather", tensor),
                              place);
    const CallAnswers all =
        check_.Compare({.kind = CallKind::kAllGather, .tensor = tensor}, place);
    const int64_t most = *std::max_element(all.rows.begin(), all.rows.end());
    std::vector<int64_t> sizes = tensor.sizes().vec();
    if (!sizes.empty()) sizes[0] = most;
    at::Tensor padded = tensor.detach();
    if (!sizes.empty() && sizes[0] != tensor.size(0)) {
      padded = at::zeros(sizes, tensor.options().requires_grad(false));
      padded.narrow(0, 0, tensor.size(0)).copy_(tensor.detach());
    }
    std::vector<at::Tensor> gathered;
    std::vector<std::vector<at::Tensor>> outputs(1);
    for (int64_t i = 0; i < num_processes(); ++i) {
      gathered.push_back(at::empty(sizes, padded.options()));
      outputs[0].push_back(Bytes(gathered.back()));
    }
    if (padded.numel() > 0) {
      std::vector<at::Tensor> inputs = {Bytes(padded)};
      group_.Guard("AllGather",
                   [&] { group_.side()->allgather(outputs, inputs)->wait(); });
    }
    for (size_t i = 0; i < gathered.size() && !sizes.empty(); ++i) {
      gathered[i] = gathered[i].narrow(0, 0, all.rows[i]);
    }
    return gathered;
  }

  void Barrier(Place place) override {
    const CallLog::Scope call(group_.calls(), {.what = "Barrier"}, place);
    check_.Compare({.kind = CallKind::kBarrier}, place);
  }

  bool Any(bool here, Place place) override {
    const CallLog::Scope call(group_.calls(), {.what = "Any"}, place);
    const CallAnswers all =
        check_.Compare({.kind = CallKind::kAny, .value = here}, place);
    return std::count(all.values.begin(), all.values.end(), 1) > 0;
  }

  void PostNote(const RankNote& note, Place place) override {
    const CallLog::Scope call(group_.calls(), {.what = "PostNote"}, place);
    check_.Start({.kind = CallKind::kNote,
                  .value = note.flags,
                  .rows = std::bit_cast<int64_t>(note.seconds)},
                 place);
  }

  std::vector<RankNote> ReadNotes() override {
    const CallLog::Scope call(group_.calls(), {.what = "ReadNotes"});
    const CallAnswers all = check_.Finish();
    std::vector<RankNote> notes;
    for (size_t i = 0; i < all.values.size(); ++i) {
      notes.push_back({all.values[i], std::bit_cast<double>(all.rows[i])});
    }
    return notes;
  }

  std::unique_ptr<Collectives> ForAnotherThread() override {
    return std::make_unique<GroupCollectives>(group_.ForAnotherThread());
  }

  void Abandon(const std::string& reason) override { group_.Abandon(reason); }

  void SetRecordFolder(const std::string& folder) override {
    group_.record().SetFolder(folder);
  }

 private:
  const std::unique_ptr<ProcessGroup> own_group_;  // if it is not borrowed
  ProcessGroup& group_;
  CallCheck check_;
};

}  // namespace

std::unique_ptr<Collectives> MakeGroupCollectives(ProcessGroup& group) {
  return std::make_unique<GroupCollectives>(group);
}

}  // namespace trainyard

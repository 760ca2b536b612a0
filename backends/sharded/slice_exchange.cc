#include "backends/sharded/slice_exchange.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

using Work = c10::intrusive_ptr<c10d::Work>;

// Every rank sends each row to its owner, who adds them up: gloo's own
// reduce-scatter sends as much as an all-reduce.
class SumOfRows final : public SliceExchange::Pending {
 public:
  SumOfRows(c10d::ProcessGroup& group, const at::Tensor& buffer)
      : sent_(buffer), received_(at::empty_like(buffer)) {
    std::vector<int64_t> even;
    work_ = group.all_to_all_single(received_, sent_, even, even);
  }

  at::Tensor Wait() override {
    work_->wait();
    at::Tensor sum = received_.sum(0);
    received_.reset();
    sent_.reset();
    return sum;
  }

 private:
  at::Tensor sent_;
  at::Tensor received_;
  Work work_;
};

// NCCL adds up on its way, ranks of one machine in shared memory.
class ReducedRow final : public SliceExchange::Pending {
 public:
  ReducedRow(c10d::ProcessGroup& group, const at::Tensor& buffer)
      : sent_(buffer), sum_(at::empty({buffer.size(1)}, buffer.options())) {
    work_ = group.reduce_scatter_single(sum_, sent_);
  }

  at::Tensor Wait() override {
    work_->wait();
    sent_.reset();
    return std::move(sum_);
  }

 private:
  at::Tensor sent_;
  at::Tensor sum_;
  Work work_;
};

class GatheredRows final : public SliceExchange::Pending {
 public:
  GatheredRows(c10d::ProcessGroup& group, const at::Tensor& buffer,
               int64_t rank)
      : rows_(buffer), own_(buffer.narrow(0, rank, 1)) {
    work_ = group.all_gather_single(rows_, own_);
  }

  at::Tensor Wait() override {
    work_->wait();
    return std::move(rows_);
  }

 private:
  at::Tensor rows_;
  at::Tensor own_;
  Work work_;
};

}  // namespace

std::unique_ptr<SliceExchange::Pending> SliceExchange::StartSum(
    const at::Tensor& buffer) {
  if (buffer.is_cpu() && group_.shared_ranks() == nullptr) {
    return std::make_unique<SumOfRows>(*group_.training(), buffer);
  }
  return std::make_unique<ReducedRow>(*group_.training(), buffer);
}

std::unique_ptr<SliceExchange::Pending> SliceExchange::StartGather(
    const at::Tensor& buffer) {
  return std::make_unique<GatheredRows>(*group_.training(), buffer, rank());
}

}  // namespace trainyard

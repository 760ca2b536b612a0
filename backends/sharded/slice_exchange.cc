#include "backends/sharded/slice_exchange.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

#include "backends/processes/open_exchanges.h"
#include "backends/processes/shared_exchange.h"

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

// What tells exchanges apart from those of SharedBackend.
constexpr uint64_t kSumTag = uint64_t{0xF0} << 56;
constexpr uint64_t kGatherTag = uint64_t{0xF1} << 56;

size_t BytesOf(int64_t elements, const at::TensorOptions& options) {
  return static_cast<size_t>(elements) * options.dtype().itemsize();
}

at::Tensor TensorAt(const std::byte* data, at::IntArrayRef sizes,
                    const at::TensorOptions& options) {
  return at::from_blob(const_cast<std::byte*>(data), sizes, options);
}

// Each rank adds up its row of the buffers of all, where they are.
class SumInPlace final : public SliceExchange::Pending {
 public:
  SumInPlace(OpenExchanges& open, int64_t rank, int64_t ranks, int64_t chunk,
             const at::TensorOptions& options,
             const std::function<void(at::Tensor&)>& fill)
      : open_(open), sum_(std::make_shared<at::Tensor>()) {
    const size_t bytes = BytesOf(ranks * chunk, options);
    const size_t offset = BytesOf(rank * chunk, options);
    number_ = open_.Post(
        kSumTag | bytes, bytes,
        [&](std::byte* to) {
          at::Tensor buffer = TensorAt(to, {ranks, chunk}, options);
          fill(buffer);
        },
        [sum = sum_, offset, chunk,
         options](const SharedExchange::Parts& parts) {
          const at::NoGradGuard no_gradients;
          const auto row = [&](size_t other) {
            return TensorAt(parts[other].data + offset, {chunk}, options);
          };
          if (parts.size() == 1) {
            *sum = row(0).clone();
            return;
          }
          *sum = row(0).add(row(1));
          for (size_t i = 2; i < parts.size(); ++i) sum->add_(row(i));
        });
  }

  at::Tensor Wait() override {
    open_.CompleteUpTo(number_);
    return std::move(*sum_);
  }

 private:
  OpenExchanges& open_;
  const std::shared_ptr<at::Tensor> sum_;
  uint32_t number_ = 0;
};

}  // namespace

bool SliceExchange::InPlace(int64_t chunk,
                            const at::TensorOptions& options) const {
  return options.device().is_cpu() && group_.shared_exchanges() != nullptr &&
         BytesOf(ranks() * chunk, options) <=
             group_.shared_exchanges()->exchange().area();
}

std::unique_ptr<SliceExchange::Pending> SliceExchange::StartSum(
    int64_t chunk, const at::TensorOptions& options,
    const std::function<void(at::Tensor&)>& fill) {
  return std::make_unique<SumInPlace>(*group_.shared_exchanges(), rank(),
                                      ranks(), chunk, options, fill);
}

void SliceExchange::Gather(
    int64_t chunk, const at::TensorOptions& options,
    const std::function<void(at::Tensor&)>& put,
    const std::function<void(const std::vector<at::Tensor>&)>& read) {
  OpenExchanges& open = *group_.shared_exchanges();
  const size_t bytes = BytesOf(chunk, options);
  const uint32_t number = open.Post(
      kGatherTag | bytes, bytes,
      [&](std::byte* to) {
        at::Tensor row = TensorAt(to, {chunk}, options);
        put(row);
      },
      [&](const SharedExchange::Parts& parts) {
        std::vector<at::Tensor> rows;
        for (const SharedExchange::Part& part : parts) {
          rows.push_back(TensorAt(part.data, {chunk}, options));
        }
        read(rows);
      });
  open.CompleteUpTo(number);
}

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

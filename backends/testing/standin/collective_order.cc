#include "backends/testing/standin/collective_order.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <functional>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

namespace trainyard::standin {

CollectiveOrder::CollectiveOrder(c10::intrusive_ptr<c10d::Store> store,
                                 c10::intrusive_ptr<c10d::Backend> gloo,
                                 const CollectiveOrderOptions& options)
    : store_(std::move(store)), gloo_(std::move(gloo)), options_(options) {}

std::string CollectiveOrder::KeyOf(int rank) const {
  return "call/" + std::to_string(number_) + "/" + std::to_string(rank);
}

void CollectiveOrder::Enter(const CollectiveCall& call) {
  ++number_;
  if (options_.size == 1) return;
  const std::string text =
      c10::str(call.kind, " of ", call.numel, " ", call.type,
               call.argument == 0 ? "" : c10::str(" (", call.argument, ")"));
  const auto start = std::chrono::steady_clock::now();
  store_->set(KeyOf(options_.rank), text);
  const auto hash = static_cast<int64_t>(std::hash<std::string>()(text));
  std::vector<at::Tensor> mine = {at::tensor({number_, hash})};
  std::vector<std::vector<at::Tensor>> all(1);
  for (int i = 0; i < options_.size; ++i) {
    all[0].push_back(at::empty_like(mine[0]));
  }
  bool same = true;
  std::string reason;
  try {
    gloo_->allgather(all, mine)->wait();
    for (const at::Tensor& other : all[0]) same &= other.equal(mine[0]);
  } catch (const std::exception& e) {
    same = false;
    reason = e.what();
  }
  if (same) {
    store_->deleteKey(KeyOf(options_.rank));
    return;
  }
  // NCCL would wait for ever. Its watchdog ends that after the timeout.
  std::this_thread::sleep_until(start + options_.timeout);
  C10_THROW_ERROR(DistBackendError,
                  c10::str("watchdog: collective ", number_, " did not end in ",
                           options_.timeout.count(), " ms: ", Describe()));
}

std::string CollectiveOrder::Describe() const {
  std::string text;
  for (int rank = 0; rank < options_.size; ++rank) {
    const std::string key = KeyOf(rank);
    text += (rank == 0 ? "" : "; ") + ("rank " + std::to_string(rank));
    text += store_->check({key}) ? " is in " + store_->get_to_str(key)
                                 : " did not call it";
  }
  return text;
}

}  // namespace trainyard::standin

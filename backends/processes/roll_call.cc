#include "backends/processes/roll_call.h"

#include <exception>
#include <future>
#include <memory>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>
#include <vector>

#include "backends/processes/store.h"

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr char kReason[] = "abandoned";
constexpr milliseconds kInterval(20);

std::string Answer(int64_t rank) { return "answer/" + std::to_string(rank); }

}  // namespace

RollCall::RollCall(c10::intrusive_ptr<c10d::Store> store, int64_t rank,
                   int64_t size, milliseconds patience)
    : store_(std::move(store)), rank_(rank), size_(size), patience_(patience) {}

RollCall::RollCall(const RollCall&) = default;

RollCall::~RollCall() = default;

std::optional<std::string> RollCall::WithinPatience(
    std::function<std::string(RollCall&)> call) {
  if (mute_) return std::nullopt;
  auto self = std::make_shared<RollCall>(*this);
  std::promise<std::string> promise;
  std::future<std::string> future = promise.get_future();
  std::thread([self, call, promise = std::move(promise)]() mutable {
    try {
      promise.set_value(call(*self));
    } catch (const std::exception&) {
      promise.set_value("the store of rank 0 is gone");
    }
  }).detach();
  mute_ = future.wait_for(2 * patience_) == std::future_status::timeout;
  if (mute_) return std::nullopt;
  return future.get();
}

void RollCall::Abandon(const std::string& reason) {
  const std::string text = "rank " + std::to_string(rank_) + ": " + reason;
  WithinPatience([text](RollCall& self) {
    self.store_->compareSet(kReason, {},
                            std::vector<uint8_t>(text.begin(), text.end()));
    return "";
  });
}

std::string RollCall::Ask() {
  store_->set(Answer(rank_), std::string("1"));
  const Clock::time_point deadline = Clock::now() + patience_;
  std::vector<int64_t> missing;
  do {
    missing.clear();
    for (int64_t rank = 0; rank < size_; ++rank) {
      if (!store_->check({Answer(rank)})) missing.push_back(rank);
    }
    if (missing.empty()) break;
    std::this_thread::sleep_for(kInterval);
  } while (Clock::now() < deadline);
  std::string text = missing.empty()
                         ? "all ranks are there"
                         : NameRanks(missing) +
                               (missing.size() == 1 ? " does" : " do") +
                               " not answer";
  if (store_->check({kReason})) {
    text += "; " + store_->get_to_str(kReason);
  }
  return text;
}

std::string RollCall::Describe() {
  const std::string text = WithinPatience(&RollCall::Ask)
                               .value_or("the store of rank 0 does not answer");
  // Ranks that notice the failure later still need the store.
  if (rank_ == 0 && size_ > 2) std::this_thread::sleep_for(2 * patience_);
  return text;
}

}  // namespace trainyard

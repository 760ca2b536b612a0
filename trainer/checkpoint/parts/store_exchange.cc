#include "trainer/checkpoint/parts/store_exchange.h"

#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

namespace trainyard {

StoreExchange::StoreExchange(c10::intrusive_ptr<c10d::Store> store, int rank,
                             int world_size, Options options)
    : store_(std::move(store)),
      rank_(rank),
      world_size_(world_size),
      options_(std::move(options)) {
  TORCH_CHECK_VALUE(rank >= 0 && rank < world_size, "StoreExchange: rank is ",
                    rank, " of ", world_size);
}

StoreExchange::StoreExchange(c10::intrusive_ptr<c10d::Store> store, int rank,
                             int world_size)
    : StoreExchange(std::move(store), rank, world_size, Options()) {}

StoreExchange::~StoreExchange() = default;

std::string StoreExchange::KeyOf(int64_t round, int rank) const {
  return absl::StrCat(options_.name, "/", round, "/", rank);
}

absl::StatusOr<std::vector<std::string>> StoreExchange::AllGather(
    const std::string& mine) {
  const int64_t round = round_++;
  std::vector<std::string> all;
  try {
    store_->set(KeyOf(round, rank_), mine);
    for (int rank = 0; rank < world_size_; ++rank) {
      const std::string key = KeyOf(round, rank);
      try {
        store_->wait({key}, options_.timeout);
      } catch (const c10::Error& error) {
        return absl::DeadlineExceededError(absl::StrCat(
            "process ", rank, " did not come within ", options_.timeout.count(),
            " ms: ", error.what_without_backtrace()));
      }
      all.push_back(store_->get_to_str(key));
    }
    // Who is here has been through the round before: nobody reads it any more.
    if (round > 0) store_->deleteKey(KeyOf(round - 1, rank_));
  } catch (const c10::Error& error) {
    return absl::UnavailableError(
        absl::StrCat("the processes' store: ", error.what_without_backtrace()));
  }
  return all;
}

}  // namespace trainyard

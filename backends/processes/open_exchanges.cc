#include "backends/processes/open_exchanges.h"

#include <utility>

namespace trainyard {

OpenExchanges::OpenExchanges(std::unique_ptr<SharedExchange> exchange)
    : exchange_(std::move(exchange)) {}

uint32_t OpenExchanges::Post(uint64_t tag, size_t bytes, const Write& write,
                             Read read) {
  const bool large = bytes > SharedExchange::kSmall;
  if (open_.size() + 1 >= SharedExchange::kOpen) {
    CompleteUpTo(open_.back().number);
  }
  if (large) {
    // Two large posts at a time would use both areas.
    for (size_t i = open_.size(); i-- > 0;) {
      if (!open_[i].large) continue;
      CompleteUpTo(open_[i].number);
      break;
    }
  }
  const uint32_t number = exchange_->Post(tag, bytes, write);
  open_.push_back({number, large, std::move(read)});
  return number;
}

void OpenExchanges::CompleteUpTo(uint32_t number) {
  while (!open_.empty() &&
         static_cast<int32_t>(open_.front().number - number) <= 0) {
    const Open next = std::move(open_.front());
    open_.pop_front();
    exchange_->Complete(next.number, next.read);
  }
}

}  // namespace trainyard

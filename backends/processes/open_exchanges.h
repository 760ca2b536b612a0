// OpenExchanges has the exchanges that were posted and are not completed. It
// completes them in their order, when their results are asked for or their
// memory is needed.
//
//   OpenExchanges open(std::move(exchange));
//   const uint32_t number = open.Post(
//       /*tag=*/7, sizeof(mine), [&](std::byte* to) { Write(mine, to); },
//       [&](const SharedExchange::Parts& parts) { sum = Sum(parts); });
//   …
//   open.CompleteUpTo(number);  // `sum` is there
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_OPEN_EXCHANGES_H_
#define TRAINYARD_BACKENDS_PROCESSES_OPEN_EXCHANGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "backends/processes/shared_exchange.h"

namespace trainyard {

class OpenExchanges {
 public:
  using Write = std::function<void(std::byte*)>;
  using Read = std::function<void(const SharedExchange::Parts&)>;

  explicit OpenExchanges(std::unique_ptr<SharedExchange> exchange);

  SharedExchange& exchange() { return *exchange_; }

  // Writes this rank's part. `read` is called once all ranks have written
  // theirs, at the latest in CompleteUpTo. Returns the exchange's number.
  uint32_t Post(uint64_t tag, size_t bytes, const Write& write, Read read);

  // Completes the exchanges up to this one.
  void CompleteUpTo(uint32_t number);

 private:
  struct Open {
    uint32_t number;
    bool large;
    Read read;
  };
  const std::unique_ptr<SharedExchange> exchange_;
  std::deque<Open> open_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_OPEN_EXCHANGES_H_

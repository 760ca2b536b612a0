// CollectiveOrder holds the ranks of a communicator to NCCL's rule: all of them
// make the same calls in the same order. Ranks that do not are waited for until
// the timeout, as NCCL would wait, and are then named with what they called.
//
// Internal to the stand-in; see standin_group.h. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_COLLECTIVE_ORDER_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_COLLECTIVE_ORDER_H_

#include <c10/core/ScalarType.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace trainyard::standin {

struct CollectiveCall {
  std::string kind;
  int64_t numel = 0;
  c10::ScalarType type = c10::ScalarType::Float;
  // The root rank or the reduction.
  int64_t argument = 0;
};

struct CollectiveOrderOptions {
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
};

class CollectiveOrder {
 public:
  // `gloo` exchanges the calls; nobody else may use it.
  CollectiveOrder(c10::intrusive_ptr<c10d::Store> store,
                  c10::intrusive_ptr<c10d::Backend> gloo,
                  const CollectiveOrderOptions& options);

  // Returns once all ranks are in the same call. Throws c10::DistBackendError
  // at the timeout, with each rank's call. Collective.
  void Enter(const CollectiveCall& call);

 private:
  std::string Describe() const;
  std::string KeyOf(int rank) const;

  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::Backend> gloo_;
  CollectiveOrderOptions options_;
  int64_t number_ = 0;
};

}  // namespace trainyard::standin

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_COLLECTIVE_ORDER_H_

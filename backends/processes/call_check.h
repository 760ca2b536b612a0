// CallCheck compares the calls that the ranks are about to make, in one small
// exchange of fixed size, before tensors of other sizes are sent. gloo itself
// aborts the process when sizes differ.
//
//   CallCheck check(group);
//   const CallAnswers answers = check.Compare({.kind = CallKind::kAny}, place);
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_CALL_CHECK_H_
#define TRAINYARD_BACKENDS_PROCESSES_CALL_CHECK_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/collectives.h"
#include "backends/processes/process_group.h"

namespace trainyard {

enum class CallKind : int64_t {
  kAllReduce = 1,
  kBroadcast,
  kAllGather,
  kBarrier,
  kAny
};

// What the ranks compare of a call.
struct Call {
  CallKind kind = CallKind::kBarrier;
  // The operation, or the rank that sends. Must be equal on all ranks.
  int64_t argument = 0;
  // Its type, device and shape must be equal on all ranks, except the number of
  // rows in an AllGather. May be undefined.
  at::Tensor tensor = {};
  // Sent along; may differ.
  int64_t value = 0;
};

// What the ranks sent, in rank order.
struct CallAnswers {
  std::vector<int64_t> rows;
  std::vector<int64_t> values;
};

class CallCheck {
 public:
  // Borrows the group.
  explicit CallCheck(ProcessGroup& group);

  // Throws c10::ValueError on all ranks if the calls do not match, with the
  // call and the place of each rank. Collective.
  CallAnswers Compare(const Call& call, const Collectives::Place& place);

 private:
  [[noreturn]] void ThrowDifference(const Call& call,
                                    const Collectives::Place& place);
  // Returns the `mine` of all ranks, a row each.
  at::Tensor Exchange(const at::Tensor& mine, const char* what);

  ProcessGroup& group_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_CALL_CHECK_H_

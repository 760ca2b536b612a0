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
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/collectives.h"
#include "backends/processes/process_group.h"

namespace c10d {
class Work;
}  // namespace c10d

namespace trainyard {

enum class CallKind : int64_t {
  kAllReduce = 1,
  kBroadcast,
  kAllGather,
  kBarrier,
  kAny,
  kNote
};

// What the ranks compare of a call.
struct Call {
  CallKind kind = CallKind::kBarrier;
  // The operation, or the rank that sends. Must be equal on all ranks.
  int64_t argument = 0;
  // Its type, device and shape must be equal on all ranks, except the number of
  // rows in an AllGather. May be undefined.
  at::Tensor tensor = {};
  // Sent along; may differ. `rows` is read only without a tensor.
  int64_t value = 0;
  int64_t rows = 0;
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
  ~CallCheck();

  // Throws c10::ValueError on all ranks if the calls do not match, with the
  // call and the place of each rank. Collective.
  CallAnswers Compare(const Call& call, const Collectives::Place& place);

  // The same in two parts: Start does not wait for the other ranks. Compare may
  // be called between them. One at a time.
  void Start(const Call& call, const Collectives::Place& place);
  CallAnswers Finish();

 private:
  // A comparison that has started.
  struct Pending {
    Call call;
    Collectives::Place place;
    at::Tensor all;
    c10::intrusive_ptr<c10d::Work> work;
  };
  Pending Begin(const Call& call, const Collectives::Place& place);
  CallAnswers End(const Pending& pending);
  // Ends what was started, before other calls are compared: all ranks must
  // find a difference at the same call.
  void EndStarted();
  [[noreturn]] void ThrowDifference(const Call& call,
                                    const Collectives::Place& place);
  // Gathers the `mine` of all ranks, a row each, into pending.all.
  void Gather(const at::Tensor& mine, const char* what, Pending& pending);

  ProcessGroup& group_;
  std::optional<Pending> started_;
  std::optional<CallAnswers> finished_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_CALL_CHECK_H_

// CallCheck lets the ranks compare what they are about to call, in one small
// exchange of fixed size, before anything of another size is sent.
//
//   const CallAnswers answers = check.Compare(call, place);
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

// A call as the ranks compare it.
struct Call {
  CallKind kind = CallKind::kBarrier;
  // The operation, the rank that sends; must be equal.
  int64_t argument = 0;
  // What the tensor is like, if there is one; must be equal but for the rows of
  // an AllGather.
  at::Tensor tensor = {};
  // Carried along; may differ.
  int64_t value = 0;
};

// What every rank sent, by rank.
struct CallAnswers {
  std::vector<int64_t> rows;
  std::vector<int64_t> values;
};

class CallCheck {
 public:
  // Borrows the group.
  explicit CallCheck(ProcessGroup& group);

  // Throws c10::ValueError on all ranks if the calls do not fit. Collective:
  // all ranks must call it.
  CallAnswers Compare(const Call& call, const Collectives::Place& place);

 private:
  [[noreturn]] void ThrowDifference(const Call& call,
                                    const Collectives::Place& place);
  // Every rank's `mine`, a row each.
  at::Tensor Exchange(const at::Tensor& mine, const char* what);

  ProcessGroup& group_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_CALL_CHECK_H_

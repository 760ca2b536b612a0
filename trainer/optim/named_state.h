// Copies state from one list of named tensors to another, by name and never by
// position, and says what does not fit.
//
//   const StateMismatch mismatch = CompareState(optimizer.NamedTensors(), loaded);
//   if (mismatch.empty()) CopyState(optimizer.NamedTensors(), loaded);
#ifndef TRAINYARD_TRAINER_OPTIM_NAMED_STATE_H_
#define TRAINYARD_TRAINER_OPTIM_NAMED_STATE_H_

#include <string>
#include <vector>

#include "trainer/optim/param_groups.h"

namespace trainyard {

// Names, sorted.
struct StateMismatch {
  // Wanted and not given: stays as it is.
  std::vector<std::string> missing;
  // Given and not wanted.
  std::vector<std::string> unexpected;
  // Given in another shape, e.g. "w/exp_avg: wanted [2, 3], given [6]".
  std::vector<std::string> different;

  bool empty() const {
    return missing.empty() && unexpected.empty() && different.empty();
  }
  // E.g. "missing: a/step, b/step; unexpected: c/step".
  std::string ToString() const;
};

StateMismatch CompareState(const std::vector<NamedTensor>& wanted,
                           const std::vector<NamedTensor>& given);

// Copies each tensor that is in both with one shape, to the type and device of
// where it goes.
void CopyState(const std::vector<NamedTensor>& to,
               const std::vector<NamedTensor>& from);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_NAMED_STATE_H_

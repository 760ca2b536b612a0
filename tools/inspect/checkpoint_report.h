// Prints checkpoints as text: the checkpoints of a run as a table, the content
// of one checkpoint, and the differences between two.
//
//   PrintSteps(steps, out);
//   const bool same = PrintDifferences(before, after, out);
//
// Names are quoted, so that a file from elsewhere cannot send control
// characters to the terminal. Thread-safe for different streams.
#ifndef TRAINYARD_TOOLS_INSPECT_CHECKPOINT_REPORT_H_
#define TRAINYARD_TOOLS_INSPECT_CHECKPOINT_REPORT_H_

#include <ostream>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder/retention.h"

namespace trainyard {

void PrintSteps(const std::vector<StepInfo>& steps, std::ostream& out);

// Prints counters, settings, metrics, parts, and statistics of each tensor.
void PrintCheckpoint(const Checkpoint& checkpoint, std::ostream& out);

// Returns true, and prints nothing, if the checkpoints are equal bit for bit.
bool PrintDifferences(const Checkpoint& one, const Checkpoint& other,
                      std::ostream& out);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_CHECKPOINT_REPORT_H_

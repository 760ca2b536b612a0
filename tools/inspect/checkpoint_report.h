// Checkpoints for people to read: a table of a run's, all of one, and what is
// different between two.
//
//   PrintSteps(steps, std::cout);
//   const bool same = PrintDifferences(before, after, std::cout);
//
// Names come from files of strangers, and are shown harmless to terminals.
// Thread-safe, but for the streams.
#ifndef TRAINYARD_TOOLS_INSPECT_CHECKPOINT_REPORT_H_
#define TRAINYARD_TOOLS_INSPECT_CHECKPOINT_REPORT_H_

#include <ostream>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder/retention.h"

namespace trainyard {

void PrintSteps(const std::vector<StepInfo>& steps, std::ostream& out);

// Counters, settings, metrics, parts, and each tensor with its statistics.
void PrintCheckpoint(const Checkpoint& checkpoint, std::ostream& out);

// Returns whether there are none.
bool PrintDifferences(const Checkpoint& one, const Checkpoint& other,
                      std::ostream& out);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_INSPECT_CHECKPOINT_REPORT_H_

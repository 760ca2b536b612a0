// Functions that one rank runs before the others, or alone: for loops of your
// own, and for the preparation of data.
//
//   MainRankFirst(collectives, [&] { data = LoadOrDownload(folder); });
//   PrintOncePerNode(collectives, std::cout, "epoch 3\n");
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_RANK_ORDER_H_
#define TRAINYARD_BACKENDS_PROCESSES_RANK_ORDER_H_

#include <c10/util/FunctionRef.h>

#include <ostream>
#include <string_view>

#include "backends/collectives.h"

namespace trainyard {

// Calls `function` on rank 0, then on all other ranks, which find the files
// that rank 0 has written. They wait without a time limit. If rank 0 throws,
// the others throw c10::Error and do not call `function`. Collective.
void MainRankFirst(Collectives& collectives,
                   c10::function_ref<void()> function);

// The same for local rank 0 of each machine, for disks that are not shared.
void LocalMainRankFirst(Collectives& collectives,
                        c10::function_ref<void()> function);

// Writes `text` on local rank 0 of each machine. Not collective.
void PrintOncePerNode(const Collectives& collectives, std::ostream& stream,
                      std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_RANK_ORDER_H_

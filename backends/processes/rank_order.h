// What one process does before the others, or alone.
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

// Calls `function` on rank 0, then on all others: what rank 0 leaves on the
// disk is there for them, who wait for as long as it takes. What rank 0 throws
// ends it on all ranks, with a c10::Error on the others. Collective: all ranks
// must call it.
void MainRankFirst(Collectives& collectives,
                   c10::function_ref<void()> function);

// The same with the first rank of each machine, for disks that are not shared.
void LocalMainRankFirst(Collectives& collectives,
                        c10::function_ref<void()> function);

// Writes `text` on the first rank of each machine. Not collective.
void PrintOncePerNode(const Collectives& collectives, std::ostream& stream,
                      std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_RANK_ORDER_H_

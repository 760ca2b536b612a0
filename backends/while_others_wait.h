// WhileOthersWait calls a function on some ranks while the others wait, without
// a time limit: the collectives' own timeout is for ranks that are gone, and
// not for one that works.
//
//   WhileOthersWait(collectives, collectives.rank() == 0, [&] { Prepare(); });
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_WHILE_OTHERS_WAIT_H_
#define TRAINYARD_BACKENDS_WHILE_OTHERS_WAIT_H_

#include <c10/util/FunctionRef.h>

#include "backends/collectives.h"

namespace trainyard {

// Calls `work` on the calling thread if `works`; returns on all ranks when all
// who work are done. Meanwhile a thread of each rank that works tells the
// others that it is still there: `work` must not use the same collectives. What
// it throws is thrown on that rank, and a c10::Error on the others.
// Collective: all ranks must call it.
void WhileOthersWait(Collectives& collectives, bool works,
                     c10::function_ref<void()> work);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_WHILE_OTHERS_WAIT_H_

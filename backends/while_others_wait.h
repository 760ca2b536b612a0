// WhileOthersWait calls a function on some ranks while the others wait without
// a time limit: the timeout of collectives is for ranks that are gone, and not
// for a rank that works.
//
//   WhileOthersWait(collectives, collectives.rank() == 0, [&] { Prepare(); });
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_WHILE_OTHERS_WAIT_H_
#define TRAINYARD_BACKENDS_WHILE_OTHERS_WAIT_H_

#include <c10/util/FunctionRef.h>

#include "backends/collectives.h"

namespace trainyard {

// Calls `work` on the calling thread if `works`, and returns on all ranks when
// the work of all ranks is done. Meanwhile a second thread of each working rank
// tells the others that it is alive: `work` must not use the same collectives.
// An exception of `work` is rethrown on its rank; the others throw c10::Error.
// Collective.
void WhileOthersWait(Collectives& collectives, bool works,
                     c10::function_ref<void()> work);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_WHILE_OTHERS_WAIT_H_

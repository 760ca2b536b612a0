// PrintsHere decides whether a callback prints on this rank: by default on
// local rank 0 of each machine only.
//
//   prints_ = PrintsHere(e.backend, options_.every_rank);
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_PRINTING_PRINTS_HERE_H_
#define TRAINYARD_CALLBACKS_PRINTING_PRINTS_HERE_H_

#include "backends/backend.h"

namespace trainyard {

inline bool PrintsHere(const Backend& backend, bool every_rank) {
  return every_rank || backend.collectives().local_rank() == 0;
}

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_PRINTS_HERE_H_

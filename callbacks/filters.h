// Filters for CallbackHandler::Add: which occurrences of an event a callback
// hears of. Each event is counted on its own.
//
//   trainer.Add(logger, {.filter = EveryNth(100)});
#ifndef TRAINYARD_CALLBACKS_FILTERS_H_
#define TRAINYARD_CALLBACKS_FILTERS_H_

#include <cstdint>

#include "callbacks/callback_handler.h"

namespace trainyard {

// The nth occurrence, the 2nth, and so on. REQUIRES: n >= 1.
Filter EveryNth(int64_t n);

// The first occurrence only.
Filter Once();

// All, on the process of rank 0; none on the others.
Filter MainRankOnly(int64_t rank);

// What both let through; the second is asked about every occurrence too.
Filter Both(Filter first, Filter second);

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_FILTERS_H_

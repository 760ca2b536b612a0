// MakeSharedBackend makes a backend for c10d whose ranks are all on one machine
// and exchange CPU tensors through shared memory.
//
//   auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, size);
//   group->setBackend(
//       c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::CUSTOM,
//       MakeSharedBackend(open, [&] { return MakeGloo(…); }));
//
// Ranks are added up in the order of their numbers: the results are equal to
// the bit on all ranks. Work of up to SharedExchange::kSmall bytes is posted at
// once and completed by wait(); larger work is done when the call returns.
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_SHARED_BACKEND_H_
#define TRAINYARD_BACKENDS_PROCESSES_SHARED_BACKEND_H_

#include <c10/util/intrusive_ptr.h>

#include <functional>
#include <memory>

#include "backends/processes/open_exchanges.h"

// Include c10d's own headers, which are large, to call their methods.
namespace c10d {
class Backend;
}  // namespace c10d

namespace trainyard {

// `make_other` makes a backend for what shared memory has no code for: it is
// called, on all ranks, before the first such collective.
c10::intrusive_ptr<c10d::Backend> MakeSharedBackend(
    std::shared_ptr<OpenExchanges> open,
    std::function<c10::intrusive_ptr<c10d::Backend>()> make_other);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_SHARED_BACKEND_H_

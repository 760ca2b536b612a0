// MakeGloo makes c10d's gloo backend: collectives of CPU tensors over TCP. On
// one machine it listens on loopback only, over several on the address that
// ChooseOwnAddress gives.
//
//   const auto gloo = MakeGloo(store, {rendezvous, std::chrono::minutes(2)});
#ifndef TRAINYARD_BACKENDS_PROCESSES_GLOO_H_
#define TRAINYARD_BACKENDS_PROCESSES_GLOO_H_

#include <c10/util/intrusive_ptr.h>

#include <chrono>

#include "backends/processes/rendezvous.h"

// Include c10d's own headers, which are large, to call their methods.
namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace trainyard {

struct GlooOptions {
  Rendezvous rendezvous = {};
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
};

// Collective.
c10::intrusive_ptr<c10d::Backend> MakeGloo(
    const c10::intrusive_ptr<c10d::Store>& store, const GlooOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_GLOO_H_

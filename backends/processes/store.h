// The store is where the ranks of a run find each other: a map from names to
// values that one process serves over TCP.
//
//   const auto store = OpenStore(rendezvous, std::chrono::minutes(2));
//
// If all ranks are on one machine it listens on loopback only. Over several
// machines it listens on rank 0's address. It does not authenticate: keep that
// address on a private network. The store is thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_STORE_H_
#define TRAINYARD_BACKENDS_PROCESSES_STORE_H_

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/processes/listening_socket.h"
#include "backends/processes/rendezvous.h"

// Whoever calls its methods includes c10d/Store.hpp, which is large.
namespace c10d {
class Store;
}  // namespace c10d

namespace trainyard {

// Opens the store and waits until all ranks have opened it. Rank 0 serves it,
// unless `rendezvous.store_is_elsewhere`. Throws c10::DistError with the
// missing ranks after `timeout`. Collective.
c10::intrusive_ptr<c10d::Store> OpenStore(const Rendezvous& rendezvous,
                                          std::chrono::milliseconds timeout);

// Serves a store on a socket of the loopback address, for ranks whose
// `store_is_elsewhere`. Takes the socket's descriptor.
c10::intrusive_ptr<c10d::Store> ServeStore(ListeningSocket& socket);

// "rank 3", or "ranks 1, 2 and 5"; a long list is cut short.
std::string NameRanks(const std::vector<int64_t>& ranks);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_STORE_H_

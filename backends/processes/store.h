// OpenStore opens the store through which the processes of a run find each
// other, and waits until all of them are there.
//
//   const auto store = OpenStore(rendezvous, std::chrono::minutes(2));
//
// On one machine it listens on loopback only. Over several it listens on rank
// 0's address; anybody who can reach that can write to it, so it belongs on a
// private network. The store is thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_STORE_H_
#define TRAINYARD_BACKENDS_PROCESSES_STORE_H_

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/processes/rendezvous.h"

// Whoever calls its methods includes c10d/Store.hpp, which is large.
namespace c10d {
class Store;
}  // namespace c10d

namespace trainyard {

// Throws c10::DistError, naming the ranks that did not come, when `timeout` is
// over. Collective: all ranks must call it.
c10::intrusive_ptr<c10d::Store> OpenStore(const Rendezvous& rendezvous,
                                          std::chrono::milliseconds timeout);

// "rank 3", or "ranks 1, 2 and 5"; many are cut short.
std::string NameRanks(const std::vector<int64_t>& ranks);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_STORE_H_

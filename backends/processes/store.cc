#include "backends/processes/store.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "backends/processes/listening_socket.h"

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Returns the socket to listen on. None: listen on all addresses.
std::optional<int> ListeningFd(const Rendezvous& rendezvous) {
  if (rendezvous.store_fd) {
    const uint16_t port = PortOf(*rendezvous.store_fd);
    TORCH_CHECK_VALUE(port == rendezvous.port,
                      "TRAINYARD_STORE_FD listens on port ", port,
                      ", but MASTER_PORT is ", rendezvous.port);
    return rendezvous.store_fd;
  }
  // The name of a host often resolves to loopback on the host itself and to
  // another address elsewhere.
  if (!rendezvous.one_machine() && IsLoopback(rendezvous.address)) {
    TORCH_WARN("MASTER_ADDR ", rendezvous.address,
               " is a loopback address here; the store listens on all "
               "interfaces");
    return std::nullopt;
  }
  return ListeningSocket(rendezvous.address, rendezvous.port).Release();
}

c10::intrusive_ptr<c10d::Store> Connect(const Rendezvous& rendezvous,
                                        milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = rendezvous.port;
  options.isServer = rendezvous.rank == 0 && !rendezvous.store_is_elsewhere;
  options.waitWorkers = false;
  options.timeout = timeout;
  if (options.isServer) options.masterListenFd = ListeningFd(rendezvous);
  try {
    return c10::make_intrusive<c10d::TCPStore>(rendezvous.address, options);
  } catch (const c10::DistError& e) {
    C10_THROW_ERROR(
        DistNetworkError,
        c10::str("rank ", rendezvous.rank, " cannot connect to ",
                 rendezvous.address, ":", rendezvous.port, " within ",
                 timeout.count(), " ms, where rank 0 serves the store: ",
                 e.what_without_backtrace()));
  }
}

// A rank that a restart left behind must not be counted among the new ones.
void CheckAttempt(c10d::Store& store, const Rendezvous& rendezvous) {
  constexpr char kAttempt[] = "trainyard/attempt";
  const std::string mine = std::to_string(rendezvous.attempt);
  if (rendezvous.rank == 0) {
    store.set(kAttempt, mine);
    return;
  }
  const std::string served = store.get_to_str(kAttempt);
  if (served == mine) return;
  C10_THROW_ERROR(
      DistNetworkError,
      c10::str("rank ", rendezvous.rank, " of attempt ", mine,
               " found attempt ", served, " at ", rendezvous.address, ":",
               rendezvous.port, ": the ranks were restarted without this one"));
}

}  // namespace

c10::intrusive_ptr<c10d::Store> ServeStore(ListeningSocket& socket) {
  c10d::TCPStoreOptions options;
  options.port = socket.port();
  options.isServer = true;
  options.waitWorkers = false;
  options.masterListenFd = socket.Release();
  return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
}

std::string NameRanks(const std::vector<int64_t>& ranks) {
  constexpr size_t kMost = 8;
  std::string names = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size() && i < kMost; ++i) {
    if (i > 0) names += i + 1 == ranks.size() ? " and " : ", ";
    names += std::to_string(ranks[i]);
  }
  if (ranks.size() > kMost) {
    names += " and " + std::to_string(ranks.size() - kMost) + " more";
  }
  return names;
}

c10::intrusive_ptr<c10d::Store> OpenStore(const Rendezvous& rendezvous,
                                          milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const c10::intrusive_ptr<c10d::Store> shared = Connect(rendezvous, timeout);
  // torchrun's store serves all attempts.
  if (!rendezvous.store_is_elsewhere) CheckAttempt(*shared, rendezvous);
  const auto store = c10::make_intrusive<c10d::PrefixStore>(
      "trainyard/" + std::to_string(rendezvous.attempt), shared);
  const auto key = [](int64_t rank) { return "here/" + std::to_string(rank); };
  store->set(key(rendezvous.rank), std::string("1"));
  for (int64_t rank = 0; rank < rendezvous.world_size; ++rank) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    try {
      // Check at least once, also after the deadline.
      store->wait({key(rank)}, std::max(left, milliseconds(1)));
    } catch (const std::exception&) {
      std::vector<int64_t> missing;
      for (int64_t other = 0; other < rendezvous.world_size; ++other) {
        if (!store->check({key(other)})) missing.push_back(other);
      }
      if (missing.empty()) continue;
      C10_THROW_ERROR(
          DistNetworkError,
          c10::str(NameRanks(missing), " of ", rendezvous.world_size,
                   " did not connect within ", timeout.count(), " ms"));
    }
  }
  return store;
}

}  // namespace trainyard

// Rendezvous is what a process must know to find the other ranks: its rank, the
// number of ranks, and where rank 0 serves the store. Launchers pass it in the
// environment, each under its own names: launcher_table.h has them.
//
//   const Rendezvous rendezvous = RendezvousFromEnvironment();
//
// These variables go before what any launcher says:
//
//   MASTER_ADDR, MASTER_PORT  where rank 0 serves the store
//   TRAINYARD_INTERFACE       the network interface to use, or
//   GLOO_SOCKET_IFNAME        the same under the name that PyTorch reads
//
// and RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, together, for a
// launcher that is not known. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_RENDEZVOUS_H_
#define TRAINYARD_BACKENDS_PROCESSES_RENDEZVOUS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "backends/processes/launcher_table.h"

namespace trainyard {

struct Rendezvous {
  // Among all ranks, and among those on this machine. A launcher that does not
  // say how many ranks are here leaves it at 0 of 1.
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t local_rank = 0;
  int64_t local_world_size = 1;
  // Where the store listens.
  std::string address = "127.0.0.1";
  uint16_t port = 0;
  // The network interface for messages between ranks. Unset: the one that leads
  // to rank 0.
  std::optional<std::string> interface = std::nullopt;
  // Whether another process than rank 0 serves the store, as torchrun's agent.
  bool store_is_elsewhere = false;
  // A listening socket that rank 0 inherits, so that no other program can take
  // the port: TRAINYARD_STORE_FD.
  std::optional<int> store_fd = std::nullopt;
  // How often the launcher or the scheduler has restarted the ranks. A rank of
  // another attempt cannot join.
  int64_t attempt = 0;
  // The launcher that said so, for messages.
  std::string launcher = {};

  // Whether all ranks are known to be on this machine.
  bool one_machine() const { return local_world_size == world_size; }
};

// Reads the variables of the launcher that started this process. Throws
// std::invalid_argument with the variable and its value if one is missing or
// invalid.
Rendezvous RendezvousFromEnvironment();
Rendezvous RendezvousFromEnvironment(const Environment& environment);

// The number of processes that the launcher started; 1 without a launcher. A
// Slurm job whose script starts the program without srun has one process.
int64_t LaunchedProcesses();
int64_t LaunchedProcesses(const Environment& environment);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_RENDEZVOUS_H_

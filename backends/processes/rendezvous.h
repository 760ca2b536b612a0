// Rendezvous is what a process must know to find the other ranks: its rank, the
// number of ranks, and where rank 0 serves the store. Launchers pass it in the
// environment, each under its own names:
//
//   torchrun, tools/launch  RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE
//                           MASTER_ADDR MASTER_PORT
//   Open MPI's mpirun       OMPI_COMM_WORLD_RANK … (MASTER_ADDR only over
//                           several machines)
//   Slurm's srun            SLURM_PROCID SLURM_NTASKS SLURM_LOCALID
//                           SLURM_JOB_NODELIST …
//
//   const Rendezvous rendezvous = RendezvousFromEnvironment();
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_RENDEZVOUS_H_
#define TRAINYARD_BACKENDS_PROCESSES_RENDEZVOUS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trainyard {

struct Rendezvous {
  // Among all ranks, and among those on this machine.
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t local_rank = 0;
  int64_t local_world_size = 1;
  // Where the store listens.
  std::string address = "127.0.0.1";
  uint16_t port = 0;
  // Whether another process than rank 0 serves the store, as torchrun's agent.
  bool store_is_elsewhere = false;
  // A listening socket that rank 0 inherits, so that no other program can take
  // the port: TRAINYARD_STORE_FD.
  std::optional<int> store_fd = std::nullopt;
  // How often the launcher has restarted the ranks. Separates the keys of
  // different attempts in a store that outlives them.
  int64_t attempt = 0;

  // Whether all ranks are on this machine.
  bool one_machine() const { return local_world_size == world_size; }
};

using Environment = std::function<std::optional<std::string>(const char*)>;

// Reads the variables of the launcher that started this process. Throws
// std::invalid_argument with the variable and its value if one is missing or
// invalid.
Rendezvous RendezvousFromEnvironment();
Rendezvous RendezvousFromEnvironment(const Environment& environment);

// The number of processes that the launcher started; 1 without a launcher. A
// Slurm job whose script starts the program without srun has one process.
int64_t LaunchedProcesses();
int64_t LaunchedProcesses(const Environment& environment);

// The first host of a Slurm list: "n[07-09,12],gpu1" gives "n07".
std::string FirstSlurmHost(const std::string& hosts);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_RENDEZVOUS_H_

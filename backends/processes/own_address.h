// OwnAddress is the address of this machine at which other ranks reach it, and
// the network interface that has it.
//
//   const OwnAddress own = ChooseOwnAddress(rendezvous);
//   std::printf("%s of %s\n", own.address.c_str(), own.interface.c_str());
//
// Thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_OWN_ADDRESS_H_
#define TRAINYARD_BACKENDS_PROCESSES_OWN_ADDRESS_H_

#include <string>
#include <vector>

#include "backends/processes/rendezvous.h"

namespace trainyard {

struct OwnAddress {
  std::string interface;
  std::string address;
};

// The addresses of this machine's interfaces that are up.
std::vector<OwnAddress> OwnAddresses();

// In this order: the interface that `rendezvous` names; loopback if all ranks
// are here; the interface that leads to rank 0; if that is loopback, as where a
// host's name stands for itself, the one of the default route, or the first
// other one. Throws std::invalid_argument if there is no such interface, with
// those there are, and std::runtime_error if there is no route.
OwnAddress ChooseOwnAddress(const Rendezvous& rendezvous);

// "rank 0 of 4 (Slurm's srun): local rank 0 of 2, store at n1:21034, messages
// over eth0 (10.0.0.1)".
std::string DescribePlace(const Rendezvous& rendezvous, const OwnAddress& own);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_OWN_ADDRESS_H_

// ListenOn opens the socket that a store of several processes listens on, bound
// to one address and not to all of the machine's.
//
//   const ListeningSocket socket = ListenOn("127.0.0.1", /*port=*/0);
//   // socket.fd, socket.port
//
// Thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_LISTENING_SOCKET_H_
#define TRAINYARD_BACKENDS_PROCESSES_LISTENING_SOCKET_H_

#include <cstdint>
#include <string>

namespace trainyard {

struct ListeningSocket {
  // The caller's to close.
  int fd = -1;
  uint16_t port = 0;
};

// Port 0: any free one. Throws std::runtime_error, naming address and port, if
// it is taken or the address is not this machine's.
ListeningSocket ListenOn(const std::string& address, uint16_t port);

// The port that a listening socket is bound to.
uint16_t PortOf(int fd);

// This machine's address, as a number, of the interface that leads to `host`.
// Throws std::runtime_error if there is no way to it.
std::string AddressTowards(const std::string& host);

// Whether a name or number of a host means this machine alone.
bool IsLoopback(const std::string& host);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_LISTENING_SOCKET_H_

// ListeningSocket is a TCP socket that listens on one address of this machine,
// and not on all of them. A process that is started later can inherit it, so
// that no other program takes the port in between.
//
//   const ListeningSocket socket("127.0.0.1", 0);  // any free port
//   std::printf("listens on port %d\n", socket.port());
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_LISTENING_SOCKET_H_
#define TRAINYARD_BACKENDS_PROCESSES_LISTENING_SOCKET_H_

#include <cstdint>
#include <string>

namespace trainyard {

class ListeningSocket {
 public:
  // Port 0: any free one. Throws std::runtime_error with address, port and
  // reason.
  ListeningSocket(const std::string& address, int port);
  ~ListeningSocket();

  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  // Closed on exec, unless the flag is cleared.
  int fd() const { return fd_; }
  uint16_t port() const { return port_; }

  // Returns the descriptor for the caller to close. REQUIRES: called once.
  int Release();

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

// Returns the port that a socket is bound to. Throws std::runtime_error if `fd`
// is not a socket.
uint16_t PortOf(int fd);

// Returns the numeric address of this machine's interface that leads to `host`.
// Throws std::runtime_error if there is no route.
std::string AddressTowards(const std::string& host);

// Whether a host name or address stands for this machine only. False for an
// unknown host.
bool IsLoopback(const std::string& host);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_LISTENING_SOCKET_H_

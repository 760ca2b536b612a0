// ListenSocket is a listening TCP socket that the launcher binds and a rank
// inherits, so that nobody can take the port in between.
//
//   const ListenSocket socket("127.0.0.1", 0);  // any free port
//   socket.port();
//
// It listens on the given address only. Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_LISTEN_SOCKET_H_
#define TRAINYARD_TOOLS_LAUNCH_LISTEN_SOCKET_H_

#include <string>

namespace trainyard {

class ListenSocket {
 public:
  // Throws std::runtime_error, naming address, port and reason.
  ListenSocket(const std::string& address, int port);
  ~ListenSocket();

  ListenSocket(const ListenSocket&) = delete;
  ListenSocket& operator=(const ListenSocket&) = delete;

  int fd() const { return fd_; }
  int port() const { return port_; }

 private:
  int fd_ = -1;
  int port_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LISTEN_SOCKET_H_

#include "tools/launch/listen_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses Resolve(const std::string& address, int port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(),
                                &hints, &found);
  if (error != 0) {
    throw std::runtime_error("'" + address +
                             "' is not an address: " + gai_strerror(error));
  }
  return Addresses(found, freeaddrinfo);
}

int BoundPort(int fd) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  if (bound.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
  }
  return ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

ListenSocket::ListenSocket(const std::string& address, int port) {
  const Addresses addresses = Resolve(address, port);
  int error = 0;
  for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      error = errno;
      continue;
    }
    // Connections of a run that just ended do not keep its port from the next.
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 &&
        listen(fd, SOMAXCONN) == 0) {
      fd_ = fd;
      port_ = BoundPort(fd);
      return;
    }
    error = errno;
    close(fd);
  }
  const std::string place = "port " + std::to_string(port) + " of " + address;
  if (error == EADDRINUSE) throw std::runtime_error(place + " is taken");
  if (error == EADDRNOTAVAIL) {
    throw std::runtime_error(address + " is not an address of this host");
  }
  throw std::runtime_error("cannot listen on " + place + ": " +
                           std::strerror(error));
}

ListenSocket::~ListenSocket() { close(fd_); }

}  // namespace trainyard

#include "backends/processes/listening_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

namespace trainyard {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses Resolve(const std::string& host, int port, int type) {
  addrinfo hints = {};
  hints.ai_socktype = type;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    throw std::runtime_error("'" + host +
                             "' is not an address: " + gai_strerror(error));
  }
  return {found, &freeaddrinfo};
}

[[noreturn]] void Fail(const std::string& address, int port, int error) {
  const std::string place = "port " + std::to_string(port) + " of " + address;
  if (error == EADDRINUSE) throw std::runtime_error(place + " is taken");
  if (error == EADDRNOTAVAIL) {
    throw std::runtime_error(address + " is not an address of this host");
  }
  throw std::runtime_error("cannot listen on " + place + ": " +
                           std::strerror(error));
}

std::string Name(const sockaddr* address, socklen_t size) {
  char text[NI_MAXHOST];
  if (getnameinfo(address, size, text, sizeof(text), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "";
  }
  return text;
}

bool IsLoopbackNumber(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

}  // namespace

ListeningSocket::ListeningSocket(const std::string& address, int port) {
  const Addresses addresses = Resolve(address, port, SOCK_STREAM);
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
      port_ = PortOf(fd);
      return;
    }
    error = errno;
    close(fd);
  }
  Fail(address, port, error);
}

ListeningSocket::~ListeningSocket() {
  if (fd_ >= 0) close(fd_);
}

int ListeningSocket::Release() { return std::exchange(fd_, -1); }

uint16_t PortOf(int fd) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    throw std::runtime_error("file descriptor " + std::to_string(fd) +
                             " is not a socket: " + std::strerror(errno));
  }
  return bound.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<sockaddr_in6&>(bound).sin6_port)
             : ntohs(reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

std::string AddressTowards(const std::string& host) {
  // Connecting a datagram socket selects the interface and sends nothing.
  const Addresses found = Resolve(host, 9, SOCK_DGRAM);
  const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    throw std::runtime_error("there is no route to " + host + ": " +
                             std::strerror(error));
  }
  close(fd);
  return Name(reinterpret_cast<sockaddr*>(&own), size);
}

bool IsLoopback(const std::string& host) {
  try {
    return IsLoopbackNumber(Resolve(host, 0, SOCK_STREAM)->ai_addr);
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace trainyard

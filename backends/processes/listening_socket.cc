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

namespace trainyard {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses Resolve(const std::string& host, uint16_t port, int type) {
  addrinfo hints = {};
  hints.ai_socktype = type;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    throw std::runtime_error("there is no host \"" + host +
                             "\": " + gai_strerror(error));
  }
  return {found, &freeaddrinfo};
}

[[noreturn]] void Refuse(const std::string& what, const std::string& address,
                         uint16_t port, int fd) {
  const int error = errno;
  if (fd >= 0) close(fd);
  throw std::runtime_error("cannot " + what + " " + address + ":" +
                           std::to_string(port) + ": " + std::strerror(error));
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

ListeningSocket ListenOn(const std::string& address, uint16_t port) {
  const Addresses found = Resolve(address, port, SOCK_STREAM);
  const int fd =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, found->ai_protocol);
  if (fd < 0) Refuse("open a socket for", address, port, fd);
  const int yes = 1;  // a port whose last connections are fading is free
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    Refuse("listen on", address, port, fd);
  }
  return {fd, PortOf(fd)};
}

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
  // Connecting a datagram socket sends nothing, but picks the interface.
  const Addresses found = Resolve(host, 9, SOCK_DGRAM);
  const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    Refuse("find a way to", host, 0, fd);
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

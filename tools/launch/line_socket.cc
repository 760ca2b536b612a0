#include "tools/launch/line_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

namespace trainyard {
namespace {

constexpr int kConnectMilliseconds = 1000;
// Launchers send short lines: whoever sends more is something else.
constexpr size_t kLongestLine = 65536;

int ConnectOne(const addrinfo& address) {
  const int fd =
      socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (connect(fd, address.ai_addr, address.ai_addrlen) != 0) {
    pollfd ready = {fd, POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof(error);
    if (errno != EINPROGRESS || poll(&ready, 1, kConnectMilliseconds) != 1 ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ||
        error != 0) {
      close(fd);
      return -1;
    }
  }
  return fd;
}

}  // namespace

LineSocket::LineSocket(int fd)
    : fd_(fd), heard_(std::chrono::steady_clock::now()) {
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  const int yes = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

LineSocket::LineSocket(LineSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      broken_(other.broken_),
      heard_(other.heard_),
      partial_(std::move(other.partial_)) {}

LineSocket::~LineSocket() {
  if (fd_ >= 0) close(fd_);
}

std::optional<LineSocket> LineSocket::Connect(const std::string& host,
                                              int port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) !=
      0) {
    return std::nullopt;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(
      found, &freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int fd = ConnectOne(*one);
    if (fd >= 0) return LineSocket(fd);
  }
  return std::nullopt;
}

std::string LineSocket::OwnAddress() const {
  sockaddr_storage own = {};
  socklen_t size = sizeof(own);
  char text[NI_MAXHOST];
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof(text),
                  nullptr, 0, NI_NUMERICHOST) != 0) {
    return "";
  }
  return text;
}

void LineSocket::Send(const std::string& line) {
  const std::string whole = line + "\n";
  // A peer that does not read has as good as gone.
  if (send(fd_, whole.data(), whole.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(whole.size())) {
    broken_ = true;
  }
}

std::vector<std::string> LineSocket::Receive() {
  char buffer[4096];
  ssize_t size = 0;
  while ((size = recv(fd_, buffer, sizeof(buffer), 0)) > 0) {
    partial_.append(buffer, static_cast<size_t>(size));
    heard_ = std::chrono::steady_clock::now();
  }
  if (size == 0 || (errno != EAGAIN && errno != EINTR)) broken_ = true;
  std::vector<std::string> lines;
  for (size_t end; (end = partial_.find('\n')) != std::string::npos;) {
    lines.push_back(partial_.substr(0, end));
    partial_.erase(0, end + 1);
  }
  if (partial_.size() > kLongestLine) broken_ = true;
  return lines;
}

}  // namespace trainyard

#include "tools/report/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestRequest = 16384;
// More are left in the listen queue until others end.
constexpr size_t kMostConnections = 64;
// A connection without progress for this long is closed.
constexpr auto kPatience = std::chrono::seconds(10);

// By its text alone: a name that resolves to loopback may be an attack.
bool IsLoopbackName(const std::string& name) {
  return name == "localhost" || name == "::1" || name.rfind("127.", 0) == 0;
}

// The host in the "Host:" header, without its port.
std::string HostOf(const std::string& request) {
  std::string lower = request;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const size_t start = lower.find("\r\nhost:");
  if (start == std::string::npos) return "";
  const size_t end = lower.find("\r\n", start + 2);
  std::istringstream words(lower.substr(start + 7, end - start - 7));
  std::string host;
  words >> host;
  if (host.rfind('[', 0) == 0) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

std::string Message(const std::string& status, const std::string& type,
                    const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type +
         "; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\nCache-Control: no-store\r\n"
         "X-Content-Type-Options: nosniff\r\n"
         "Content-Security-Policy: default-src 'none'; script-src "
         "'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
         "frame-ancestors 'none'\r\n\r\n" +
         body;
}

}  // namespace

// One request and its answer.
class Server::Connection {
 public:
  enum class State { kOpen, kAnswered, kFailed };

  explicit Connection(int fd) : fd_(fd), deadline_(Clock::now() + kPatience) {}
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  short events() const { return answer_ ? POLLOUT : POLLIN; }
  Clock::time_point deadline() const { return deadline_; }

  // Reads or writes as much as is possible without waiting.
  template <class Respond>
  State Advance(const Respond& respond) {
    deadline_ = Clock::now() + kPatience;
    if (!answer_) {
      const State state = Read();
      if (state == State::kFailed || !IsComplete()) return state;
      answer_ = respond(request_);
    }
    return Write();
  }

 private:
  bool IsComplete() const {
    return request_.find("\r\n\r\n") != std::string::npos;
  }

  State Read() {
    char buffer[4096];
    while (!IsComplete()) {
      const ssize_t size = recv(fd_, buffer, sizeof(buffer), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return State::kOpen;
      if (size <= 0 || request_.size() > kLongestRequest) return State::kFailed;
      request_.append(buffer, static_cast<size_t>(size));
    }
    return State::kOpen;
  }

  State Write() {
    while (sent_ < answer_->size()) {
      const ssize_t size = send(fd_, answer_->data() + sent_,
                                answer_->size() - sent_, MSG_NOSIGNAL);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return State::kOpen;
      if (size <= 0) return State::kFailed;
      sent_ += static_cast<size_t>(size);
    }
    return State::kAnswered;
  }

  const int fd_;
  Clock::time_point deadline_;
  std::string request_;
  std::optional<std::string> answer_;
  size_t sent_ = 0;
};

Server::Server(const std::string& address, int port)
    : socket_(address, port), loopback_(IsLoopbackName(address)) {}

Server::~Server() = default;

void Server::Run(const Answers& answers) {
  for (;;) Poll(answers, kPatience);
}

int Server::Poll(const Answers& answers, std::chrono::milliseconds wait) {
  std::vector<pollfd> polled;
  for (const auto& connection : connections_) {
    polled.push_back({connection->fd(), connection->events(), 0});
    wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(
                              connection->deadline() - Clock::now()));
  }
  const bool accepts = connections_.size() < kMostConnections;
  if (accepts) polled.push_back({socket_.fd(), POLLIN, 0});
  const auto timeout =
      static_cast<int>(std::max(wait, std::chrono::milliseconds(0)).count());
  if (poll(polled.data(), polled.size(), timeout) < 0) return 0;

  int answered = 0;
  size_t i = 0;
  std::erase_if(connections_, [&](const auto& connection) {
    if (polled[i++].revents == 0) return connection->deadline() <= Clock::now();
    const Connection::State state = connection->Advance(
        [&](const std::string& request) { return Respond(request, answers); });
    if (state == Connection::State::kAnswered) ++answered;
    return state != Connection::State::kOpen;
  });
  if (accepts && polled.back().revents != 0) Accept();
  return answered;
}

void Server::Accept() {
  const int fd =
      accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) connections_.push_back(std::make_unique<Connection>(fd));
}

std::string Server::Respond(const std::string& request,
                            const Answers& answers) const {
  std::istringstream words(request);
  std::string method;
  std::string path;
  words >> method >> path;
  if (method != "GET") {
    return Message("405 Method Not Allowed", "text/plain", "only GET\n");
  }
  if (loopback_ && !IsLoopbackName(HostOf(request))) {
    return Message("403 Forbidden", "text/plain",
                   "the Host header does not name this host\n");
  }
  const std::optional<Answer> answer = answers(path.substr(0, path.find('?')));
  if (!answer) return Message("404 Not Found", "text/plain", "no such page\n");
  return Message("200 OK", answer->type, answer->body);
}

}  // namespace trainyard

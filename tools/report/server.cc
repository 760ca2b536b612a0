#include "tools/report/server.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace trainyard {
namespace {

constexpr size_t kLongestRequest = 16384;
constexpr timeval kPatience = {.tv_sec = 2, .tv_usec = 0};

// By its text alone: a name that resolves to loopback may be an attack.
bool IsLoopbackName(const std::string& name) {
  return name == "localhost" || name == "::1" || name.rfind("127.", 0) == 0;
}

// Up to the empty line after the headers; "" if it does not come.
std::string ReadRequest(int fd) {
  std::string request;
  char buffer[4096];
  while (request.size() < kLongestRequest) {
    const ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
    if (size <= 0) return "";
    request.append(buffer, static_cast<size_t>(size));
    if (request.find("\r\n\r\n") != std::string::npos) return request;
  }
  return "";
}

void Send(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    text.remove_prefix(static_cast<size_t>(size));
  }
}

// The host of the "Host:" line, without its port.
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

Server::Server(const std::string& address, int port)
    : socket_(address, port), loopback_(IsLoopbackName(address)) {}

void Server::Run(const Answers& answers) {
  for (;;) Step(answers);
}

void Server::Step(const Answers& answers) {
  const int fd = accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  const std::string request = ReadRequest(fd);
  if (!request.empty()) Send(fd, Respond(request, answers));
  close(fd);
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
                   "not the name of this host\n");
  }
  const std::optional<Answer> answer = answers(path.substr(0, path.find('?')));
  if (!answer) return Message("404 Not Found", "text/plain", "not here\n");
  return Message("200 OK", answer->type, answer->body);
}

}  // namespace trainyard

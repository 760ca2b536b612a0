// Server answers the HTTP requests of a browser on this host.
//
//   Server server(host, port);
//   server.Run([&](const std::string& path) -> std::optional<Answer> {
//     …
//     return Answer{.type = "application/json", .body = data};
//   });
//
// It serves several connections at a time, so that a connection that a browser
// opened ahead of time, and sends nothing on, does not delay others. It
// supports GET only and closes a connection after one answer. It listens on the
// given address only. On a loopback address it rejects requests whose "Host:"
// is not this host: a web page from elsewhere could otherwise read the answers
// by pointing its own name here (DNS rebinding).
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_REPORT_SERVER_H_
#define TRAINYARD_TOOLS_REPORT_SERVER_H_

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "backends/processes/listening_socket.h"

namespace trainyard {

struct Answer {
  // E.g. "text/html", "application/json".
  std::string type;
  std::string body;
};

// Returns the answer for a path (without the query), or nothing if there is no
// such page. Called from the thread of Run or Poll.
using Answers = std::function<std::optional<Answer>(const std::string& path)>;

class Server {
 public:
  // Port 0: any free port. Throws std::runtime_error, naming address and port.
  Server(const std::string& address, int port);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return socket_.port(); }

  // Serves until the process ends.
  [[noreturn]] void Run(const Answers& answers);

  // Waits until a connection needs something, for at most `wait`, and serves
  // all that do. Returns the number of requests that were answered in full.
  int Poll(const Answers& answers, std::chrono::milliseconds wait);

 private:
  class Connection;

  void Accept();
  std::string Respond(const std::string& request, const Answers& answers) const;

  ListeningSocket socket_;
  bool loopback_;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_SERVER_H_

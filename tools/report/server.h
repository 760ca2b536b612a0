// Server answers HTTP requests of a browser on this host.
//
//   Server server("127.0.0.1", 0);
//   server.Run([](const std::string& path) {
//     return Answer{.type = "text/plain", .body = path};
//   });
//
// It listens on the given address only. A request that names another host than
// this one is refused (a page from elsewhere whose name was made to point here)
// unless the address is not a loopback one. One request at a time, GET only.
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_REPORT_SERVER_H_
#define TRAINYARD_TOOLS_REPORT_SERVER_H_

#include <functional>
#include <optional>
#include <string>

#include "backends/processes/listening_socket.h"

namespace trainyard {

struct Answer {
  // "text/html", "application/json".
  std::string type;
  std::string body;
};

// Nothing for a path that there is not.
using Answers = std::function<std::optional<Answer>(const std::string& path)>;

class Server {
 public:
  // Port 0: any free one. Throws std::runtime_error, naming address and port.
  Server(const std::string& address, int port);

  int port() const { return socket_.port(); }

  // Until the process ends.
  [[noreturn]] void Run(const Answers& answers);
  // One request.
  void Step(const Answers& answers);

 private:
  std::string Respond(const std::string& request, const Answers& answers) const;

  ListeningSocket socket_;
  bool loopback_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_REPORT_SERVER_H_

// NodeLink is the connection of a node's launcher to the coordinator.
//
//   second.Join("10.0.0.2", 4711);
//   first.Join("10.0.0.1", 4712);
//
// It sends a sign of life each second while Next() is called, and takes a
// coordinator that gives none for lost. Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_NODE_LINK_H_
#define TRAINYARD_TOOLS_LAUNCH_NODE_LINK_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "tools/launch/launch_options.h"
#include "tools/launch/line_socket.h"

namespace trainyard {

// What the coordinator wants.
struct Order {
  enum class Kind { kStart, kStop, kCancel, kEnd, kLost };
  Kind kind = Kind::kLost;
  // Of kStop, kCancel and kEnd: why; of kEnd also the exit code.
  std::string text;
  int code = 0;
  // Of kStart.
  int64_t generation = 0;
  int node = 0;
  int first_rank = 0;
  int world_size = 1;
  std::string address;
  int port = 0;
  int restarts = 0;
};

class NodeLink {
 public:
  // Borrows the options.
  explicit NodeLink(const LaunchOptions& options);

  // False: the coordinator is not there.
  bool Connect();
  bool connected() const { return socket_.has_value(); }
  // -1 without a connection.
  int fd() const { return socket_ ? socket_->fd() : -1; }
  // The address at which the other nodes reach this one.
  std::string OwnAddress() const { return socket_->OwnAddress(); }

  // Ready to start: the store will be served at this place if rank 0 is here.
  void Join(const std::string& address, int port);
  void Failed(int code, const std::string& why);
  void Finished();
  void Cancel(const std::string& why);
  void Cancelled(int code);

  // The next order, if there is one. After kLost there is no connection.
  std::optional<Order> Next();

 private:
  void Send(const std::string& line);
  std::optional<Order> Read(const std::string& line);

  const LaunchOptions& options_;
  std::optional<LineSocket> socket_;
  std::deque<std::string> lines_;
  int64_t generation_ = 0;
  LineSocket::Time last_beat_ = {};
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_NODE_LINK_H_

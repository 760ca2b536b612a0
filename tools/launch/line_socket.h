// LineSocket exchanges lines of text over a TCP connection without ever
// waiting.
//
//   other.Send("END 0 all done");
//   for (const std::string& line : socket->Receive()) lines.push_back(line);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_LAUNCH_LINE_SOCKET_H_
#define TRAINYARD_TOOLS_LAUNCH_LINE_SOCKET_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

class LineSocket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Takes a connected socket.
  explicit LineSocket(int fd);
  ~LineSocket();
  LineSocket(LineSocket&& other) noexcept;
  LineSocket& operator=(LineSocket&&) = delete;
  LineSocket(const LineSocket&) = delete;

  // None: nobody listens there, or nobody answers within a second.
  static std::optional<LineSocket> Connect(const std::string& host, int port);

  int fd() const { return fd_; }
  // The connection broke or was closed.
  bool broken() const { return broken_; }
  // When the other side was last heard.
  Time heard() const { return heard_; }
  // This side's address of the connection.
  std::string OwnAddress() const;

  void Send(const std::string& line);
  // The lines that have arrived.
  std::vector<std::string> Receive();

 private:
  int fd_ = -1;
  bool broken_ = false;
  Time heard_;
  std::string partial_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_LINE_SOCKET_H_

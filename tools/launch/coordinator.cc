#include "tools/launch/coordinator.h"

#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/launch/line_socket.h"

namespace trainyard {
namespace {

using std::chrono::steady_clock;
using Time = steady_clock::time_point;

constexpr std::chrono::milliseconds kTick(100);
constexpr std::chrono::seconds kBeat(1);
// For the launchers to read the last line.
constexpr std::chrono::seconds kLongestEnd(5);

class Coordinator {
 public:
  Coordinator(const ListeningSocket& socket, const CoordinatorOptions& options)
      : socket_(socket), options_(options), roster_(options.roster) {}

  void Run() {
    while (!Over()) {
      Wait();
      Accept();
      ReadAll();
      Deliver(roster_.Tick(steady_clock::now()));
      Beat();
    }
  }

 private:
  bool Over() {
    if (!roster_.ended()) return false;
    if (!ended_at_) ended_at_ = steady_clock::now();
    return launchers_.empty() || steady_clock::now() > *ended_at_ + kLongestEnd;
  }

  void Wait() {
    std::vector<pollfd> fds = {{socket_.fd(), POLLIN, 0}};
    for (const auto& [id, launcher] : launchers_) {
      fds.push_back({launcher.fd(), POLLIN, 0});
    }
    poll(fds.data(), fds.size(), static_cast<int>(kTick.count()));
    if ((fds[0].revents & POLLIN) == 0) return;
    const int fd = accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) accepted_ = fd;
  }

  void Accept() {
    if (!accepted_) return;
    launchers_.emplace(next_++, LineSocket(*accepted_));
    accepted_.reset();
  }

  void ReadAll() {
    const Time now = steady_clock::now();
    std::vector<int> ids;
    for (const auto& [id, launcher] : launchers_) ids.push_back(id);
    for (const int id : ids) {
      LineSocket& launcher = launchers_.at(id);
      for (const std::string& line : launcher.Receive()) {
        if (line != "BEAT") Deliver(roster_.Received(id, line, now));
      }
      if (launcher.broken() || now - launcher.heard() > options_.silence) {
        launchers_.erase(id);
        Deliver(roster_.Lost(id, now));
      }
    }
  }

  void Deliver(const Roster::Letters& letters) {
    for (const Letter& letter : letters) {
      const auto launcher = launchers_.find(letter.to);
      if (launcher != launchers_.end()) launcher->second.Send(letter.text);
    }
  }

  void Beat() {
    const Time now = steady_clock::now();
    if (now - last_beat_ < kBeat) return;
    last_beat_ = now;
    for (auto& [id, launcher] : launchers_) launcher.Send("BEAT");
  }

  const ListeningSocket& socket_;
  const CoordinatorOptions options_;
  Roster roster_;
  std::map<int, LineSocket> launchers_;
  int next_ = 0;
  std::optional<int> accepted_;
  std::optional<Time> ended_at_;
  Time last_beat_ = {};
};

}  // namespace

void RunCoordinator(const ListeningSocket& socket,
                    const CoordinatorOptions& options) {
  Coordinator(socket, options).Run();
}

}  // namespace trainyard

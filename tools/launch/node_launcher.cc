#include "tools/launch/node_launcher.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "backends/processes/listening_socket.h"
#include "tools/launch/announce.h"
#include "tools/launch/coordinator.h"
#include "tools/launch/guard.h"
#include "tools/launch/host_ranks.h"
#include "tools/launch/node_link.h"
#include "tools/launch/rank_environment.h"
#include "trainer/cancelled_exit_code.h"

namespace trainyard {
namespace {

using std::chrono::steady_clock;

constexpr int kPollMilliseconds = 200;
// A coordinator that was just killed may still hold its port.
constexpr std::chrono::seconds kPortWait(10);

bool IsNumber(const std::string& address) {
  in_addr four;
  in6_addr six;
  return inet_pton(AF_INET, address.c_str(), &four) == 1 ||
         inet_pton(AF_INET6, address.c_str(), &six) == 1;
}

// The name of a host often stands for loopback on the host itself.
std::string AddressToListenOn(const std::string& host) {
  return IsLoopback(host) && !IsNumber(host) ? "0.0.0.0" : host;
}

class NodeLauncher {
 public:
  NodeLauncher(const LaunchOptions& options, const std::string& program,
               int signal_fd, int alive)
      : options_(options),
        program_(program),
        signal_fd_(signal_fd),
        alive_(alive),
        link_(options) {}

  int Run() {
    while (!exit_code_) {
      if (!link_.connected() && !Connect()) break;
      const ListeningSocket store(StoreHost(), 0);
      link_.Join(StoreAddress(), store.port());
      const std::optional<Order> start = WaitFor(Order::Kind::kStart);
      if (start) RunRanks(*start, store);
    }
    return *exit_code_;
  }

 private:
  // Waits until the coordinator is there. False: exit_code_ says why not.
  bool Connect() {
    const auto give_up = steady_clock::now() +
                         std::chrono::duration_cast<steady_clock::duration>(
                             options_.join_timeout);
    while (!link_.Connect()) {
      if (steady_clock::now() > give_up) {
        Announce("nobody listens at " + options_.master_addr + ":" +
                 std::to_string(options_.master_port) +
                 ", where the launcher of node 0 has the coordinator");
        exit_code_ = 1;
      }
      Wait();
      if (exit_code_) return false;
    }
    return true;
  }

  // This host as the others see it.
  std::string StoreAddress() const {
    const std::string own = link_.OwnAddress();
    return IsLoopback(own) ? options_.master_addr : own;
  }
  std::string StoreHost() const { return AddressToListenOn(StoreAddress()); }

  // Waits for events outside of the ranks. Sets exit_code_ if they end the run.
  void Wait() {
    pollfd fds[] = {
        {signal_fd_, POLLIN, 0}, {alive_, POLLIN, 0}, {link_.fd(), POLLIN, 0}};
    poll(fds, 3, kPollMilliseconds);
    if (fds[1].revents != 0) exit_code_ = 1;
    signalfd_siginfo info = {};
    while (read(signal_fd_, &info, sizeof(info)) == sizeof(info)) {
      if (!AsksForEnd(static_cast<int>(info.ssi_signo))) continue;
      const std::string name = SignalName(static_cast<int>(info.ssi_signo));
      Announce(name + " between starts: not starting again");
      link_.Cancel(name);
      exit_code_ = CancelledExitCode();
    }
  }

  // Returns the order if it is of this kind. None: the run has ended, or the
  // node must join again.
  std::optional<Order> WaitFor(Order::Kind kind) {
    while (!exit_code_) {
      const std::optional<Order> order = link_.Next();
      if (!order) {
        Wait();
        continue;
      }
      if (order->kind == kind) return order;
      if (!order->text.empty()) Announce(order->text);
      if (order->kind == Order::Kind::kEnd) exit_code_ = order->code;
      // STOP is old news for a node that waits for its start.
      if (order->kind == Order::Kind::kStop && kind == Order::Kind::kStart) {
        continue;
      }
      if (order->kind == Order::Kind::kCancel) continue;
      return std::nullopt;
    }
    return std::nullopt;
  }

  void RunRanks(const Order& start, const ListeningSocket& store) {
    const bool first = start.first_rank == 0;
    Announce("start " + std::to_string(start.generation) + ": ranks " +
             std::to_string(start.first_rank) + " to " +
             std::to_string(start.first_rank + options_.nproc - 1) + " of " +
             std::to_string(start.world_size) + ", store at " + start.address +
             ":" + std::to_string(start.port));
    HostRanks ranks(options_, program_,
                    {.first_rank = start.first_rank,
                     .world_size = start.world_size,
                     .address = start.address,
                     .port = start.port,
                     .restarts = start.restarts,
                     .generation = start.generation},
                    {signal_fd_, alive_, &link_}, first ? &store : nullptr);
    ranks.Start();
    const GroupEnd end = ranks.Run();
    Report(end, ranks.last_order());
  }

  // Tells the coordinator how the ranks ended and waits for its answer: the end
  // of the run sets exit_code_, otherwise the node joins again.
  void Report(const GroupEnd& end, const std::optional<Order>& order) {
    const bool cancelled = end.how == GroupEnd::How::kCancelled;
    if (end.how == GroupEnd::How::kAbandoned) {
      exit_code_ = 1;
      return;
    }
    if (order && order->kind == Order::Kind::kEnd) {
      exit_code_ = cancelled ? end.exit_code : order->code;
      return;
    }
    if (order && !cancelled) return;  // to join again
    if (cancelled) link_.Cancelled(end.exit_code);
    if (end.how == GroupEnd::How::kFinished) link_.Finished();
    while (!exit_code_ && link_.connected()) {
      const std::optional<Order> stop = WaitFor(Order::Kind::kStop);
      if (stop && !cancelled) {
        Announce(stop->text);
        return;
      }
    }
    if (cancelled) exit_code_ = end.exit_code;
  }

  const LaunchOptions& options_;
  const std::string program_;
  const int signal_fd_;
  const int alive_;
  NodeLink link_;
  std::optional<int> exit_code_;
};

[[noreturn]] void ServeAsChild(const ListeningSocket& socket,
                               const LaunchOptions& options, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // In a session of its own: Ctrl-C is for the launchers, who tell it.
  setsid();
  try {
    RunCoordinator(socket, {.roster = {.min_nodes = options.min_nodes,
                                       .max_nodes = options.max_nodes,
                                       .join_wait = options.join_wait,
                                       .join_timeout = options.join_timeout,
                                       .max_restarts = options.max_restarts,
                                       .backoff = options.backoff},
                            .silence = options.silence});
  } catch (const std::exception& error) {
    Announce(error.what());
    _exit(1);
  }
  _exit(0);
}

}  // namespace

int RunNode(const LaunchOptions& options, const std::string& program,
            int signal_fd, int alive) {
  return NodeLauncher(options, program, signal_fd, alive).Run();
}

std::optional<pid_t> StartCoordinator(const LaunchOptions& options) {
  if (!options.several_nodes() || options.node_rank.value_or(0) != 0) {
    return std::nullopt;
  }
  std::optional<ListeningSocket> socket;
  const auto give_up = steady_clock::now() + kPortWait;
  while (!socket) {
    try {
      socket.emplace(AddressToListenOn(options.master_addr),
                     options.master_port);
    } catch (const std::runtime_error&) {
      // Without a number it is another host's business.
      if (!options.node_rank) return std::nullopt;
      if (steady_clock::now() > give_up) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
    }
  }
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (child == 0) ServeAsChild(*socket, options, parent);
  return child;
}

}  // namespace trainyard

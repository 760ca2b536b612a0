#include "tools/launch/host_ranks.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/launch/announce.h"
#include "tools/launch/descendants.h"
#include "tools/launch/guard.h"
#include "tools/launch/node_link.h"
#include "tools/launch/rank_environment.h"
#include "trainer/cancelled_exit_code.h"

namespace trainyard {
namespace {

using std::chrono::steady_clock;

// Well within the 5 s that a failed group may take in all.
constexpr std::chrono::seconds kKillWait{1};

constexpr int kMostReads = 16;

// A launcher tells the coordinator so often that it lives.
constexpr std::chrono::milliseconds kBeat(500);

}  // namespace

HostRanks::HostRanks(const LaunchOptions& options, const std::string& program,
                     const RankPlan& plan, const HostEvents& events,
                     const ListeningSocket* store)
    : options_(options),
      program_(program),
      plan_(plan),
      events_(events),
      store_(store),
      start_(steady_clock::now()) {}

void HostRanks::StartAll() {
  ranks_.resize(static_cast<size_t>(options_.nproc));
  for (int local = 0; local < options_.nproc; ++local) {
    Rank& rank = ranks_[static_cast<size_t>(local)];
    rank.number = plan_.first_rank + local;
    rank.output = std::make_unique<RankOutput>(
        rank.number,
        options_.log_dir + "/rank" + std::to_string(rank.number) + ".log");
    if (plan_.restarts > 0) {
      rank.output->AddToLog("launch: restart " +
                            std::to_string(plan_.restarts));
    }
    const std::optional<int> store_fd = rank.number == 0 && store_ != nullptr
                                            ? std::optional(store_->fd())
                                            : std::nullopt;
    rank.process = std::make_unique<RankProcess>(RankProcessOptions{
        .program = program_,
        .arguments = options_.command,
        .environment = RankEnvironment(options_, plan_, local, store_fd),
        .inherited_fd = store_fd});
  }
}

void HostRanks::Start() {
  try {
    StartAll();
  } catch (...) {
    KillDescendants(kKillWait);
    throw;
  }
}

GroupEnd HostRanks::Run() {
  while (!AllEnded()) {
    WaitForEvents();
    CheckTimes();
  }
  // Processes that the ranks left running end now, which closes the pipes.
  if (!KillDescendants(kKillWait)) {
    Announce("a process does not end even when killed");
  }
  for (Rank& rank : ranks_) {
    Drain(rank);
    rank.output->Finish();
  }
  if (first_failed_ != nullptr) {
    AnnounceFailure(first_failed_->number, failure_, *first_failed_->output);
  }
  return end_;
}

bool HostRanks::AllEnded() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.ended; });
}

int HostRanks::PollTimeout() const {
  std::optional<Time> next = kill_at_;
  if (events_.link != nullptr) {
    const Time beat = steady_clock::now() + kBeat;
    next = next ? std::min(*next, beat) : beat;
  }
  for (const Rank& rank : ranks_) {
    if (!rank.stopped_at || options_.stopped_timeout.count() == 0) continue;
    const Time due =
        *rank.stopped_at + std::chrono::duration_cast<steady_clock::duration>(
                               options_.stopped_timeout);
    next = next ? std::min(*next, due) : due;
  }
  if (!next) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*next - steady_clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count()));
}

void HostRanks::WaitForEvents() {
  const int link = events_.link == nullptr ? -1 : events_.link->fd();
  // poll() leaves out descriptors below 0.
  std::vector<pollfd> fds = {{events_.signal_fd, POLLIN, 0},
                             {events_.alive_fd, POLLIN, 0},
                             {link, POLLIN, 0}};
  for (const Rank& rank : ranks_) {
    if (rank.ended) continue;
    if (!rank.closed[RankOutput::kOutput]) {
      fds.push_back({rank.process->output_fd(), POLLIN, 0});
    }
    if (!rank.closed[RankOutput::kError]) {
      fds.push_back({rank.process->error_fd(), POLLIN, 0});
    }
  }
  poll(fds.data(), fds.size(), PollTimeout());
  if (fds[1].revents != 0) {
    end_ = {GroupEnd::How::kAbandoned, 1};
    KillAll();
  }
  for (Rank& rank : ranks_) {
    if (!rank.ended) Drain(rank);
  }
  if (fds[0].revents != 0) ReadSignals();
  ReadOrders();
}

void HostRanks::ReadOrders() {
  while (events_.link != nullptr && events_.link->connected()) {
    const std::optional<Order> order = events_.link->Next();
    if (!order) return;
    if (order->kind == Order::Kind::kCancel) {
      Cancel(SIGTERM, order->text);
      continue;
    }
    // Any other order ends this start of the ranks.
    Announce(order->text + (AllEnded() ? "" : "; ending the ranks"));
    if (end_.how == GroupEnd::How::kFinished) {
      end_ = {GroupEnd::How::kStopped, order->code};
      EndRanks(SIGTERM, options_.failure_grace);
    }
    // Without a coordinator others may already run in their place.
    if (order->kind == Order::Kind::kLost) KillAll();
    last_order_ = order;
  }
}

void HostRanks::ReadSignals() {
  signalfd_siginfo info = {};
  while (read(events_.signal_fd, &info, sizeof(info)) == sizeof(info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (AsksForEnd(signal)) {
      Cancel(signal, SignalName(signal));
    } else if (signal != SIGCHLD) {
      for (const Rank& rank : ranks_) {
        if (!rank.ended) rank.process->Signal(signal);
      }
    }
  }
  Reap();
}

void HostRanks::Reap() {
  std::vector<std::pair<Rank*, int>> ended;
  int status = 0;
  for (pid_t pid;
       (pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;) {
    const auto rank =
        std::find_if(ranks_.begin(), ranks_.end(),
                     [pid](const Rank& r) { return r.process->pid() == pid; });
    if (rank == ranks_.end()) continue;  // an orphan that came to us
    if (WIFSTOPPED(status)) {
      rank->stopped_at = steady_clock::now();
    } else if (WIFCONTINUED(status)) {
      rank->stopped_at.reset();
    } else {
      ended.emplace_back(&*rank, status);
    }
  }
  // If several ended at the same time, a killed rank is the cause: the others
  // only lost their peer.
  std::stable_partition(ended.begin(), ended.end(), [](const auto& one) {
    return WIFSIGNALED(one.second);
  });
  for (const auto& [rank, code] : ended) OnEnded(*rank, code);
}

void HostRanks::OnEnded(Rank& rank, int status) {
  rank.ended = true;
  rank.stopped_at.reset();
  Drain(rank);
  const int code =
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code == 0) return;
  if (end_.how == GroupEnd::How::kCancelled) {
    if (end_.exit_code == 0) end_.exit_code = code;
  } else if (code == CancelledExitCode()) {
    Cancel(SIGTERM, "rank " + std::to_string(rank.number) + " was cancelled");
    if (end_.exit_code == 0) end_.exit_code = code;
  } else {
    Fail(rank, DescribeEnd(status), code);
  }
}

void HostRanks::Fail(Rank& rank, const std::string& what, int code) {
  if (end_.how != GroupEnd::How::kFinished) return;
  end_ = {GroupEnd::How::kFailed, code};
  first_failed_ = &rank;
  const std::chrono::duration<double> ran = steady_clock::now() - start_;
  failure_ = what + " after " + DescribeSeconds(ran.count());
  Announce("rank " + std::to_string(rank.number) + " " + failure_ +
           (ranks_.size() > 1 ? "; ending the others" : ""));
  if (events_.link != nullptr) {
    events_.link->Failed(
        code, "rank " + std::to_string(rank.number) + " " + failure_);
  }
  EndRanks(SIGTERM, options_.failure_grace);
}

void HostRanks::EndRanks(int signal, LaunchOptions::Seconds grace) {
  for (const Rank& rank : ranks_) {
    if (!rank.ended) rank.process->Signal(signal);
  }
  kill_at_ = steady_clock::now() +
             std::chrono::duration_cast<steady_clock::duration>(grace);
}

void HostRanks::Cancel(int signal, const std::string& why) {
  if (end_.how == GroupEnd::How::kCancelled) {
    // A scheduler sends several signals before SIGKILL; a user who is in a
    // hurry the same one again.
    if (signal != cancelled_by_) return;
    Announce(why + " again: killing the ranks");
    KillAll();
    return;
  }
  // A group that fails already has its own, shorter time.
  if (end_.how != GroupEnd::How::kFinished) return;
  end_ = {GroupEnd::How::kCancelled, 0};
  cancelled_by_ = signal;
  Announce(why + ": the ranks have " + DescribeSeconds(options_.grace.count()) +
           " to end");
  if (events_.link != nullptr) events_.link->Cancel(why);
  EndRanks(signal, options_.grace);
}

void HostRanks::KillAll() {
  kill_at_.reset();
  for (const Rank& rank : ranks_) {
    if (!rank.ended) rank.process->KillGroup();
  }
}

void HostRanks::CheckTimes() {
  const Time now = steady_clock::now();
  if (kill_at_ && now >= *kill_at_) {
    for (const Rank& rank : ranks_) {
      if (rank.ended) continue;
      Announce("killing rank " + std::to_string(rank.number) +
               ", which did not end when told to");
    }
    KillAll();
  }
  if (options_.stopped_timeout.count() == 0) return;
  for (Rank& rank : ranks_) {
    if (!rank.stopped_at || now < *rank.stopped_at + options_.stopped_timeout) {
      continue;
    }
    rank.stopped_at.reset();
    Fail(rank,
         "was stopped for " + DescribeSeconds(options_.stopped_timeout.count()),
         128 + SIGSTOP);
  }
}

void HostRanks::Drain(Rank& rank) {
  char buffer[65536];
  for (const auto stream : {RankOutput::kOutput, RankOutput::kError}) {
    const int fd = stream == RankOutput::kOutput ? rank.process->output_fd()
                                                 : rank.process->error_fd();
    ssize_t size = 0;
    // Read only so much of a rank that prints without a pause: others wait.
    for (int i = 0; i < kMostReads || rank.ended; ++i) {
      size = read(fd, buffer, sizeof(buffer));
      if (size <= 0) break;
      rank.output->Add(stream,
                       std::string_view(buffer, static_cast<size_t>(size)));
    }
    if (size == 0) rank.closed[stream] = true;
  }
}

}  // namespace trainyard

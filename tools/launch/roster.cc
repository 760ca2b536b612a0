#include "tools/launch/roster.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

namespace trainyard {
namespace {

constexpr RosterOptions::Seconds kLongestPause{30};

std::string Rest(std::istringstream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

}  // namespace

Roster::Roster(const RosterOptions& options) : options_(options) {}

Roster::Letters Roster::Received(int from, const std::string& line, Time now) {
  std::istringstream words(line);
  std::string kind;
  words >> kind;
  if (kind == "JOIN") return Join(from, Rest(words), now);
  const auto node = nodes_.find(from);
  if (node == nodes_.end()) return {{from, "END 1 expected JOIN"}};
  if (kind == "CANCEL") return Cancel(from, Rest(words));
  int64_t generation = 0;
  words >> generation;
  if (generation != generation_ || !node->second.running) return {};
  int code = 0;
  if (kind == "FINISHED") return Done(from, 0, now);
  words >> code;
  if (kind == "CANCELLED") {
    Letters letters = Cancel(from, NameOf(node->second) + " was cancelled");
    const Letters done = Done(from, code, now);
    letters.insert(letters.end(), done.begin(), done.end());
    return letters;
  }
  if (kind == "FAILED") {
    return Fail(code, NameOf(node->second) + ": " + Rest(words), now);
  }
  return Lost(from, now);
}

Roster::Letters Roster::Join(int from, const std::string& rest, Time now) {
  std::istringstream words(rest);
  std::string number;
  Node node;
  int64_t known = 0;
  if (!(words >> number >> node.nproc >> known >> node.address >> node.port >>
        node.host) ||
      node.nproc < 1) {
    return {{from, "END 1 this is not a launcher of the same version"}};
  }
  if (number != "-") node.number = std::atoi(number.c_str());
  if (state_ == State::kEnded || state_ == State::kCancelling) {
    return {{from, "END 1 the run has ended"}};
  }
  Letters letters;
  for (auto other = nodes_.begin(); other != nodes_.end();) {
    const bool same = other->first != from && node.number &&
                      other->second.number == node.number;
    if (!same) {
      ++other;
      continue;
    }
    // It was started again before the connection of the old one broke.
    const int old = other->first;
    ++other;
    letters = Lost(old, now);
    letters.push_back(
        {old, "END 1 another launcher has joined as node " + number});
    if (state_ == State::kEnded) {
      letters.push_back({from, "END 1 the run has ended"});
      return letters;
    }
  }
  const bool rejoins = nodes_.count(from) > 0;
  if (!rejoins && static_cast<int>(nodes_.size()) >= options_.max_nodes) {
    letters.push_back({from, "END 1 all " + std::to_string(options_.max_nodes) +
                                 " nodes have joined already"});
    return letters;
  }
  node.waiting = true;
  nodes_[from] = std::move(node);
  generation_ = std::max(generation_, known);
  last_join_ = now;
  const Letters start = Tick(now);
  letters.insert(letters.end(), start.begin(), start.end());
  return letters;
}

Roster::Letters Roster::Lost(int from, Time now) {
  const auto node = nodes_.find(from);
  if (node == nodes_.end()) return {};
  const Node gone = node->second;
  nodes_.erase(node);
  if (gone.running && state_ == State::kRunning) {
    return Fail(1, NameOf(gone) + " is gone", now);
  }
  if (state_ == State::kCancelling) return Done(from, 1, now);
  return {};
}

Roster::Letters Roster::Fail(int code, const std::string& why, Time now) {
  if (state_ != State::kRunning) return {};
  if (first_code_ == 0) first_code_ = code;
  if (restarts_ == options_.max_restarts) return End(first_code_, why);
  const RosterOptions::Seconds pause = std::min(
      kLongestPause, options_.backoff * std::exp2(std::min(restarts_, 30)));
  ++restarts_;
  state_ = State::kGathering;
  gathering_since_ = now;
  last_join_ = now;
  not_before_ =
      now +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(pause);
  Letters letters;
  for (auto& [id, node] : nodes_) {
    if (!node.running) continue;
    node.running = false;
    letters.push_back({id, "STOP " + std::to_string(generation_) + " " + why});
  }
  return letters;
}

Roster::Letters Roster::Cancel(std::optional<int> from,
                               const std::string& why) {
  if (state_ == State::kGathering) return End(first_code_, why);
  if (state_ != State::kRunning) return {};
  state_ = State::kCancelling;
  Letters letters;
  for (const auto& [id, node] : nodes_) {
    if (from == id) continue;
    letters.push_back({id, node.running ? "CANCEL " + why : "END 1 " + why});
  }
  return letters;
}

Roster::Letters Roster::Done(int from, int code, Time) {
  const auto node = nodes_.find(from);
  if (node != nodes_.end()) node->second.done = true;
  if (cancelled_code_ == 0) cancelled_code_ = code;
  const bool all = std::all_of(
      nodes_.begin(), nodes_.end(),
      [](const auto& one) { return !one.second.running || one.second.done; });
  if (!all) return {};
  return End(state_ == State::kCancelling ? cancelled_code_ : 0, "");
}

Roster::Letters Roster::End(int code, const std::string& why) {
  state_ = State::kEnded;
  Letters letters;
  for (const auto& [id, node] : nodes_) {
    letters.push_back({id, "END " + std::to_string(code) + " " + why});
  }
  return letters;
}

int Roster::Waiting() const {
  return static_cast<int>(
      std::count_if(nodes_.begin(), nodes_.end(),
                    [](const auto& one) { return one.second.waiting; }));
}

Roster::Letters Roster::Tick(Time now) {
  if (state_ != State::kGathering) return {};
  if (!gathering_since_) gathering_since_ = now;
  const int waiting = Waiting();
  const auto since = [now](const std::optional<Time>& then) {
    return then ? RosterOptions::Seconds(now - *then)
                : RosterOptions::Seconds(0);
  };
  if (waiting < options_.min_nodes) {
    if (since(gathering_since_) < options_.join_timeout) return {};
    return End(first_code_ == 0 ? 1 : first_code_,
               "only " + std::to_string(waiting) + " of " +
                   std::to_string(options_.min_nodes) + " nodes joined");
  }
  // Nodes that still end their ranks come as well.
  const bool all = waiting == options_.max_nodes;
  if (!all && since(last_join_) < options_.join_wait) return {};
  if (not_before_ && now < *not_before_) return {};
  return Start();
}

void Roster::AssignNumbers() {
  std::set<int> taken;
  for (const auto& [id, node] : nodes_) {
    if (node.number) taken.insert(*node.number);
  }
  for (const auto& [host, number] : numbers_) taken.insert(number);
  for (auto& [id, node] : nodes_) {
    if (node.number) continue;
    const auto known = numbers_.find(node.host);
    if (known != numbers_.end()) {
      node.number = known->second;
      continue;
    }
    int number = 0;
    while (!taken.insert(number).second) ++number;
    numbers_[node.host] = number;
    node.number = number;
  }
}

Roster::Letters Roster::Start() {
  ++generation_;
  state_ = State::kRunning;
  cancelled_code_ = 0;
  gathering_since_.reset();
  not_before_.reset();
  AssignNumbers();
  std::vector<std::pair<int, int>> order;  // number and connection
  int world = 0;
  for (const auto& [id, node] : nodes_) {
    if (!node.waiting) continue;
    order.emplace_back(*node.number, id);
    world += node.nproc;
  }
  std::sort(order.begin(), order.end());
  const Node& first = nodes_.at(order.front().second);
  const std::string where = first.address + " " + std::to_string(first.port);
  Letters letters;
  int rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const int id = order[i].second;
    Node& node = nodes_.at(id);
    node.waiting = false;
    node.running = true;
    node.done = false;
    std::ostringstream text;
    text << "START " << generation_ << " " << i << " " << rank << " " << world
         << " " << where << " " << restarts_;
    letters.push_back({id, text.str()});
    rank += node.nproc;
  }
  return letters;
}

std::string Roster::NameOf(const Node& node) const {
  return node.number
             ? "node " + std::to_string(*node.number) + " (" + node.host + ")"
             : "node " + node.host;
}

}  // namespace trainyard

#include "tools/launch/node_link.h"

#include <unistd.h>

#include <sstream>

namespace trainyard {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kBeat(1);

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0' ? name
                                                                     : "?";
}

}  // namespace

NodeLink::NodeLink(const LaunchOptions& options) : options_(options) {}

bool NodeLink::Connect() {
  socket_.reset();
  lines_.clear();
  std::optional<LineSocket> connected =
      LineSocket::Connect(options_.master_addr, options_.master_port);
  if (!connected) return false;
  socket_.emplace(std::move(*connected));
  return true;
}

void NodeLink::Send(const std::string& line) {
  if (socket_) socket_->Send(line);
}

void NodeLink::Join(const std::string& address, int port) {
  std::ostringstream text;
  text << "JOIN ";
  if (options_.node_rank) {
    text << *options_.node_rank;
  } else {
    text << "-";
  }
  text << " " << options_.nproc << " " << generation_ << " " << address << " "
       << port << " " << HostName();
  Send(text.str());
}

void NodeLink::Failed(int code, const std::string& why) {
  Send("FAILED " + std::to_string(generation_) + " " + std::to_string(code) +
       " " + why);
}

void NodeLink::Finished() { Send("FINISHED " + std::to_string(generation_)); }

void NodeLink::Cancel(const std::string& why) { Send("CANCEL " + why); }

void NodeLink::Cancelled(int code) {
  Send("CANCELLED " + std::to_string(generation_) + " " + std::to_string(code));
}

std::optional<Order> NodeLink::Next() {
  if (!socket_) return Order{.text = "there is no coordinator"};
  const auto now = steady_clock::now();
  if (now - last_beat_ >= kBeat) {
    last_beat_ = now;
    Send("BEAT");
  }
  for (std::string& line : socket_->Receive()) {
    if (line != "BEAT") lines_.push_back(std::move(line));
  }
  while (!lines_.empty()) {
    const std::string line = std::move(lines_.front());
    lines_.pop_front();
    if (const std::optional<Order> order = Read(line)) return order;
  }
  // The ranks of a node that is cut off must be gone before the coordinator
  // starts others: it waits longer.
  const bool silent = now - socket_->heard() > options_.silence * (2.0 / 3);
  if (!socket_->broken() && !silent) return std::nullopt;
  const std::string how = silent ? "does not answer" : "is gone";
  socket_.reset();
  return Order{.text = "the coordinator at " + options_.master_addr + ":" +
                       std::to_string(options_.master_port) + " " + how};
}

std::optional<Order> NodeLink::Read(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  words >> kind;
  Order order;
  const auto rest = [&] {
    std::string text;
    std::getline(words >> std::ws, text);
    return text;
  };
  if (kind == "START") {
    order.kind = Order::Kind::kStart;
    words >> order.generation >> order.node >> order.first_rank >>
        order.world_size >> order.address >> order.port >> order.restarts;
    generation_ = order.generation;
  } else if (kind == "STOP") {
    order.kind = Order::Kind::kStop;
    words >> order.generation;
    order.text = rest();
  } else if (kind == "CANCEL") {
    order.kind = Order::Kind::kCancel;
    order.text = rest();
  } else if (kind == "END") {
    order.kind = Order::Kind::kEnd;
    words >> order.code;
    order.text = rest();
  } else {
    return std::nullopt;
  }
  return order;
}

}  // namespace trainyard

// Two nodes at a real coordinator, over loopback.

#include "tools/launch/coordinator.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <thread>

#include "tools/launch/launch_options.h"
#include "tools/launch/line_socket.h"
#include "tools/launch/node_link.h"

namespace trainyard {
namespace {

LaunchOptions Node(int number, const ListeningSocket& socket) {
  LaunchOptions options;
  options.nproc = 2;
  options.min_nodes = options.max_nodes = 2;
  options.node_rank = number;
  options.master_port = socket.port();
  return options;
}

Order WaitForOrder(NodeLink& link) {
  for (;;) {
    const std::optional<Order> order = link.Next();
    if (order) return *order;
    pollfd fd = {link.fd(), POLLIN, 0};
    poll(&fd, 1, 100);
  }
}

TEST(CoordinatorTest, TwoNodesStartAndEnd) {
  const ListeningSocket socket("127.0.0.1", 0);
  std::thread coordinator([&] {
    RunCoordinator(socket, {.roster = {.min_nodes = 2, .max_nodes = 2}});
  });
  const LaunchOptions options[] = {Node(0, socket), Node(1, socket)};
  NodeLink first(options[0]), second(options[1]);
  ASSERT_TRUE(first.Connect());
  ASSERT_TRUE(second.Connect());
  EXPECT_EQ(first.OwnAddress(), "127.0.0.1");
  second.Join("10.0.0.2", 4711);
  first.Join("10.0.0.1", 4712);
  for (NodeLink* link : {&first, &second}) {
    const Order order = WaitForOrder(*link);
    EXPECT_EQ(order.kind, Order::Kind::kStart);
    EXPECT_EQ(order.generation, 1);
    EXPECT_EQ(order.first_rank, link == &first ? 0 : 2);
    EXPECT_EQ(order.world_size, 4);
    EXPECT_EQ(order.address, "10.0.0.1");
    EXPECT_EQ(order.port, 4712);
  }
  first.Finished();
  second.Failed(7, "rank 3 ended with exit code 7");
  for (NodeLink* link : {&first, &second}) {
    const Order order = WaitForOrder(*link);
    EXPECT_EQ(order.kind, Order::Kind::kEnd);
    EXPECT_EQ(order.code, 7);
    EXPECT_NE(order.text.find("rank 3 ended"), std::string::npos);
  }
  EXPECT_EQ(WaitForOrder(first).kind, Order::Kind::kLost);
  EXPECT_EQ(WaitForOrder(second).kind, Order::Kind::kLost);
  EXPECT_FALSE(second.connected());
  coordinator.join();
}

TEST(LineSocketTest, CutsTheStreamIntoLines) {
  const ListeningSocket listening("127.0.0.1", 0);
  std::optional<LineSocket> socket =
      LineSocket::Connect("127.0.0.1", listening.port());
  ASSERT_TRUE(socket);
  LineSocket other(accept(listening.fd(), nullptr, nullptr));
  other.Send("BEAT");
  other.Send("END 0 all done");
  std::vector<std::string> lines;
  while (lines.size() < 2) {
    pollfd fd = {socket->fd(), POLLIN, 0};
    poll(&fd, 1, -1);
    for (const std::string& line : socket->Receive()) lines.push_back(line);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"BEAT", "END 0 all done"}));
}

TEST(LineSocketTest, NobodyListens) {
  int port = 0;
  {
    const ListeningSocket closed("127.0.0.1", 0);
    port = closed.port();
  }
  EXPECT_FALSE(LineSocket::Connect("127.0.0.1", port));
}

}  // namespace
}  // namespace trainyard

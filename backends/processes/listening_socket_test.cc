#include "backends/processes/listening_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const std::string& address, uint16_t port) {
  return ErrorOf<std::runtime_error>(
      [&] { close(ListenOn(address, port).fd); });
}

TEST(ListeningSocketTest, HeaderExample) {
  const ListeningSocket socket = ListenOn("127.0.0.1", /*port=*/0);
  EXPECT_GT(socket.port, 0);
  EXPECT_EQ(PortOf(socket.fd), socket.port);
  int listening = 0;
  socklen_t size = sizeof(listening);
  getsockopt(socket.fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size);
  EXPECT_EQ(listening, 1);
  close(socket.fd);
}

TEST(ListeningSocketTest, ATakenPortIsNamed) {
  const ListeningSocket taken = ListenOn("127.0.0.1", 0);
  EXPECT_THAT(Refusal("127.0.0.1", taken.port),
              HasSubstr("127.0.0.1:" + std::to_string(taken.port) +
                        ": Address already in use"));
  close(taken.fd);
}

TEST(ListeningSocketTest, AnotherMachinesAddressIsNamed) {
  EXPECT_THAT(Refusal("192.0.2.1", 0), HasSubstr("192.0.2.1:0: Cannot assign"));
}

TEST(ListeningSocketTest, KnowsLoopback) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("127.1.2.3"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_TRUE(IsLoopback("localhost"));
  EXPECT_FALSE(IsLoopback("192.0.2.1"));
  EXPECT_FALSE(IsLoopback("no-such-host.invalid"));
}

TEST(ListeningSocketTest, LeadsToLoopbackByLoopback) {
  EXPECT_EQ(AddressTowards("127.0.0.1"), "127.0.0.1");
}

TEST(ListeningSocketTest, RefusesWhatIsNoSocket) {
  EXPECT_THROW(PortOf(-1), std::runtime_error);
}

}  // namespace
}  // namespace trainyard

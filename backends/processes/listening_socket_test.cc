#include "backends/processes/listening_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "tools/testing/error_of.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string Error(const std::string& address, int port) {
  return ErrorOf<std::runtime_error>(
      [&] { const ListeningSocket socket(address, port); });
}

TEST(ListeningSocketTest, HeaderExample) {
  const ListeningSocket socket("127.0.0.1", 0);
  std::printf("listens on port %d\n", socket.port());
  EXPECT_GT(socket.port(), 0);
  EXPECT_EQ(PortOf(socket.fd()), socket.port());
}

TEST(ListeningSocketTest, ListensOnItsAddressOnlyAndClosesOnExec) {
  const ListeningSocket socket("127.0.0.1", 0);
  sockaddr_in bound = {};
  socklen_t size = sizeof(bound);
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&bound), &size);
  EXPECT_EQ(ntohl(bound.sin_addr.s_addr), INADDR_LOOPBACK);
  int listening = 0;
  size = sizeof(listening);
  getsockopt(socket.fd(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size);
  EXPECT_EQ(listening, 1);
  EXPECT_TRUE(fcntl(socket.fd(), F_GETFD) & FD_CLOEXEC);
}

TEST(ListeningSocketTest, AReleasedSocketStaysOpen) {
  int fd = -1;
  {
    ListeningSocket socket("127.0.0.1", 0);
    fd = socket.Release();
    EXPECT_EQ(socket.fd(), -1);
  }
  EXPECT_GT(PortOf(fd), 0);
  close(fd);
}

TEST(ListeningSocketTest, ErrorsNameAddressAndPort) {
  const ListeningSocket socket("127.0.0.1", 0);
  EXPECT_EQ(Error("127.0.0.1", socket.port()),
            "port " + std::to_string(socket.port()) + " of 127.0.0.1 is taken");
  // A documentation network: no host has it.
  EXPECT_EQ(Error("192.0.2.1", 0), "192.0.2.1 is not an address of this host");
  EXPECT_THAT(Error("no such host", 0),
              HasSubstr("'no such host' is not an address"));
  EXPECT_THROW(PortOf(-1), std::runtime_error);
}

TEST(ListeningSocketTest, RecognisesLoopback) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("127.1.2.3"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_TRUE(IsLoopback("localhost"));
  EXPECT_FALSE(IsLoopback("192.0.2.1"));
  EXPECT_FALSE(IsLoopback("no-such-host.invalid"));
}

TEST(ListeningSocketTest, TheRouteToLoopbackIsLoopback) {
  EXPECT_EQ(AddressTowards("127.0.0.1"), "127.0.0.1");
}

}  // namespace
}  // namespace trainyard

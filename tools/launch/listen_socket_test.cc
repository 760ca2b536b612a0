#include "tools/launch/listen_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>
#include <string>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string Error(const std::string& address, int port) {
  try {
    const ListenSocket socket(address, port);
    return "listens";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(ListenSocketTest, HeaderExample) {
  const ListenSocket socket("127.0.0.1", 0);
  EXPECT_GT(socket.port(), 0);
}

TEST(ListenSocketTest, ListensOnItsAddressOnlyAndIsNotInheritedByItself) {
  const ListenSocket socket("127.0.0.1", 0);
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

TEST(ListenSocketTest, NamesTheTakenPort) {
  const ListenSocket socket("127.0.0.1", 0);
  EXPECT_EQ(Error("127.0.0.1", socket.port()),
            "port " + std::to_string(socket.port()) + " of 127.0.0.1 is taken");
}

TEST(ListenSocketTest, NamesAnAddressThatIsNotOfThisHost) {
  // A documentation network: no host has it.
  EXPECT_EQ(Error("192.0.2.1", 0), "192.0.2.1 is not an address of this host");
  EXPECT_THAT(Error("no such host", 0),
              HasSubstr("'no such host' is not an address"));
}

}  // namespace
}  // namespace trainyard

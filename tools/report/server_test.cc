#include "tools/report/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>

namespace trainyard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// What the server answers to one request.
std::string Ask(Server& server, const std::string& request) {
  std::thread serving([&] {
    server.Step([](const std::string& path) -> std::optional<Answer> {
      if (path != "/") return std::nullopt;
      return Answer{.type = "text/html", .body = "the page"};
    });
  });
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(server.port()));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  send(fd, request.data(), request.size(), 0);
  shutdown(fd, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t size; (size = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
    answer.append(buffer, static_cast<size_t>(size));
  }
  close(fd);
  serving.join();
  return answer;
}

TEST(ServerTest, AnswersABrowserOfThisHost) {
  Server server("127.0.0.1", 0);
  for (const char* host :
       {"localhost:99", "127.0.0.1", "LOCALHOST", "[::1]:5"}) {
    const std::string answer =
        Ask(server,
            "GET /?x=1 HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Length: 8\r\n"));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nthe page"));
  }
}

TEST(ServerTest, RefusesOtherHostsNamesPathsAndMethods) {
  Server server("127.0.0.1", 0);
  EXPECT_THAT(Ask(server, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask(server, "GET / HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(
      Ask(server, "GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"),
      StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask(server, "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
}

TEST(ServerTest, GoesOnAfterRequestsThatAreNone) {
  Server server("127.0.0.1", 0);
  EXPECT_EQ(Ask(server, ""), "");
  EXPECT_EQ(Ask(server, std::string(20'000, 'x')), "");
  EXPECT_THAT(Ask(server, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              EndsWith("the page"));
}

}  // namespace
}  // namespace trainyard

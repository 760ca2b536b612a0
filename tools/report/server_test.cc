#include "tools/report/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace trainyard {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Serves in a thread for as long as it lives.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest()
      : serving_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            server_.Poll(
                [](const std::string& path) -> std::optional<Answer> {
                  if (path != "/") return std::nullopt;
                  return Answer{.type = "text/html", .body = "the page"};
                },
                std::chrono::milliseconds(10));
          }
        }) {}

  // A new connection to the server; the caller closes it.
  int Connect() const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(server_.port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    return fd;
  }

  // Everything the server sends until it closes the connection.
  static std::string Receive(int fd) {
    std::string answer;
    char buffer[4096];
    for (ssize_t size; (size = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(size));
    }
    close(fd);
    return answer;
  }

  std::string Ask(const std::string& request) const {
    const int fd = Connect();
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    return Receive(fd);
  }

  Server server_{"127.0.0.1", 0};
  std::jthread serving_;
};

TEST_F(ServerTest, AnswersABrowserOnThisHost) {
  for (const char* host :
       {"localhost:99", "127.0.0.1", "LOCALHOST", "[::1]:5"}) {
    const std::string answer =
        Ask("GET /?x=1 HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Length: 8\r\n"));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nthe page"));
  }
}

TEST_F(ServerTest, RejectsOtherHostsPathsAndMethods) {
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
}

TEST_F(ServerTest, SurvivesInvalidRequests) {
  EXPECT_EQ(Ask(""), "");
  EXPECT_EQ(Ask(std::string(20'000, 'x')), "");
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              EndsWith("the page"));
}

// A browser opens connections ahead of time and sends nothing on them.
TEST_F(ServerTest, AnIdleConnectionDelaysNobody) {
  const int idle = Connect();
  const int slow = Connect();
  send(slow, "GET / HT", 8, MSG_NOSIGNAL);
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              EndsWith("the page"));
  // Both are still open and can be used later.
  const std::string rest = "TP/1.1\r\nHost: localhost\r\n\r\n";
  send(slow, rest.data(), rest.size(), MSG_NOSIGNAL);
  EXPECT_THAT(Receive(slow), EndsWith("the page"));
  const std::string all = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  send(idle, all.data(), all.size(), MSG_NOSIGNAL);
  EXPECT_THAT(Receive(idle), EndsWith("the page"));
}

// An answer that does not fit into the socket's buffer is sent in parts.
TEST(ServerPollTest, ASlowReaderDelaysNobody) {
  Server server("127.0.0.1", 0);
  const std::string large(64 << 20, 'x');
  const auto answers = [&](const std::string& path) {
    return Answer{.type = "text/plain", .body = path == "/" ? "small" : large};
  };
  const auto ask = [&](const std::string& path) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(server.port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    const std::string request =
        "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    return fd;
  };
  const int unread = ask("/large");
  const int quick = ask("/");
  int answered = 0;
  while (answered == 0) {
    answered = server.Poll(answers, std::chrono::seconds(60));
  }
  char buffer[4096];
  const ssize_t size = recv(quick, buffer, sizeof(buffer), 0);
  EXPECT_THAT(std::string(buffer, static_cast<size_t>(size)),
              EndsWith("small"));
  close(quick);
  close(unread);
}

}  // namespace
}  // namespace trainyard

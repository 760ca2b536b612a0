// A rank that behaves as a test asks: prints where it is, ends, dies, hangs,
// leaves processes behind. See the table at the end.

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "-" : value;
}

int Rank() { return std::atoi(Variable("RANK").c_str()); }

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Closes `file`, if there is one, once it has said that it waits.
[[noreturn]] void WaitForEver(int file = -1) {
  Say("waits " + std::to_string(getpid()));
  if (file >= 0) close(file);
  for (;;) pause();
}

// The address and port that the inherited socket listens on.
std::string Store() {
  const std::string fd = Variable("TRAINYARD_STORE_FD");
  if (fd == "-") return "none";
  sockaddr_in bound = {};
  socklen_t size = sizeof(bound);
  int listening = 0;
  socklen_t listening_size = sizeof(listening);
  if (getsockname(std::stoi(fd), reinterpret_cast<sockaddr*>(&bound), &size) !=
          0 ||
      getsockopt(std::stoi(fd), SOL_SOCKET, SO_ACCEPTCONN, &listening,
                 &listening_size) != 0 ||
      listening != 1) {
    return "not a listening socket";
  }
  const uint32_t a = ntohl(bound.sin_addr.s_addr);
  char text[64];
  std::snprintf(text, sizeof(text), "%u.%u.%u.%u:%u", a >> 24, (a >> 16) & 255,
                (a >> 8) & 255, a & 255, ntohs(bound.sin_port));
  return text;
}

int Env(int argc, char** argv) {
  std::string line;
  for (const char* name :
       {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
        "MASTER_PORT", "TRAINYARD_RESTART_COUNT", "TRAINYARD_GENERATION",
        "OMP_NUM_THREADS"}) {
    line += std::string(name) + "=" + Variable(name) + " ";
  }
  line += "STORE=" + Store();
  for (int i = 2; i < argc; ++i) line += " <" + std::string(argv[i]) + ">";
  Say(line);
  return 0;
}

int Exit(int, char** argv) {
  if (Rank() != std::atoi(argv[2])) WaitForEver();
  std::fprintf(stderr, "error: planned failure of rank %d\n", Rank());
  return std::atoi(argv[3]);
}

int Raise(int, char** argv) {
  if (Rank() != std::atoi(argv[2])) WaitForEver();
  Say("raises " + std::string(argv[3]));
  const int number = std::atoi(argv[3]);
  signal(number, SIG_DFL);  // a sanitizer handles some signals, and exits
  raise(number);
  WaitForEver();
}

int Stubborn(int argc, char** argv) {
  signal(SIGTERM, SIG_IGN);
  return Exit(argc, argv);
}

// Ends with the given code at SIGTERM or SIGINT, after "saved".
int Save(int, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  Say("waits " + std::to_string(getpid()));
  int got = 0;
  sigwait(&signals, &got);
  Say("saved at signal " + std::to_string(got));
  return std::atoi(argv[2]);
}

// Leaves a child in its group, and a daemon in a session of its own. Ends after
// both have said that they wait.
int Leave(int, char** argv) {
  int said[2];  // a pipe that ends when nobody holds said[1]
  if (pipe(said) != 0) return 98;
  if (fork() == 0) WaitForEver(said[1]);
  if (fork() == 0) {
    setsid();
    if (fork() == 0) WaitForEver(said[1]);
    _exit(0);
  }
  close(said[1]);
  char byte = 0;
  if (read(said[0], &byte, 1) != 0) return 98;
  if (std::string(argv[2]) == "end") return 0;
  WaitForEver();
}

int Flaky(int, char** argv) {
  const int restarts = std::stoi(Variable("TRAINYARD_RESTART_COUNT"));
  return restarts < std::atoi(argv[2]) ? std::atoi(argv[3]) + restarts : 0;
}

// One rank fails, the others wait; all are fine after the restart.
int FlakyRank(int argc, char** argv) {
  return Variable("TRAINYARD_RESTART_COUNT") == "0" ? Exit(argc, argv) : 0;
}

// Waits in the first generation.
int WaitOnce(int argc, char** argv) {
  Env(argc, argv);
  if (Variable("TRAINYARD_GENERATION") == "1") WaitForEver();
  return 0;
}

int Chat(int, char** argv) {
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    std::printf("line %d of rank %d\n", i, Rank());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(int, char**)> modes = {
      {"env", Env},               // env WORD...
      {"exit", Exit},             // exit RANK CODE; others wait
      {"raise", Raise},           // raise RANK SIGNAL; others wait
      {"stubborn", Stubborn},     // as exit, deaf to SIGTERM
      {"save", Save},             // save CODE
      {"leave", Leave},           // leave end|wait
      {"flaky", Flaky},           // flaky RESTARTS CODE
      {"flaky_rank", FlakyRank},  // flaky_rank RANK CODE
      {"wait_once", WaitOnce},    // wait_once
      {"chat", Chat},             // chat LINES
  };
  const auto mode = argc < 2 ? modes.end() : modes.find(argv[1]);
  return mode == modes.end() ? 99 : mode->second(argc, argv);
}

#include "tools/launch/launch_options.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/cli/settings.h"

namespace trainyard {
namespace {

// A day: more is a typing error.
constexpr double kLongestWait = 86400;

int Whole(Settings& settings, const char* name, int otherwise, int64_t least,
          int64_t most) {
  const int64_t value = settings.Integer(name, otherwise);
  if (value < least || value > most) {
    settings.Reject(name, std::to_string(value),
                    std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<int>(value);
}

LaunchOptions::Seconds Wait(Settings& settings, const char* name,
                            LaunchOptions::Seconds otherwise) {
  const double value = settings.Number(name, otherwise.count());
  if (value < 0 || value > kLongestWait) {
    settings.Reject(name, settings.Text(name, ""), "0 to 86400 seconds");
  }
  return LaunchOptions::Seconds(value);
}

void CheckHosts(Settings& settings, const LaunchOptions& options) {
  if (options.nnodes == 1) return;
  for (const char* name : {"node_rank", "master_addr", "master_port"}) {
    if (!settings.Has(name)) {
      throw std::invalid_argument("--nnodes is '" +
                                  std::to_string(options.nnodes) +
                                  "', which needs --" + name + " too");
    }
  }
  if (options.master_port == 0) {
    throw std::invalid_argument(
        "--master_port is '0', which the other hosts cannot know");
  }
}

void CheckCommand(const LaunchOptions& options) {
  if (options.help) return;
  if (options.write_config.empty()) {
    if (!options.command.empty()) return;
    throw std::invalid_argument("no program is given; see --help");
  }
  if (options.command.empty()) return;
  throw std::invalid_argument("--write_config is '" + options.write_config +
                              "', which starts nothing: leave out '" +
                              options.command.front() + "'");
}

}  // namespace

LaunchOptions ParseLaunchOptions(const std::vector<std::string>& arguments) {
  // The launcher's settings end at the program's name or at a bare "--".
  const auto end = std::find_if(
      arguments.begin(), arguments.end(),
      [](const std::string& a) { return a == "--" || a.rfind("--", 0) != 0; });
  const bool marked = end != arguments.end() && *end == "--";

  Settings settings(std::vector<std::string>(arguments.begin(), end));
  if (settings.Has("config")) settings.AddFile(settings.Text("config", ""));
  LaunchOptions options;
  options.help = settings.Flag("help");
  options.command.assign(marked ? end + 1 : end, arguments.end());
  options.nproc = Whole(settings, "nproc", options.nproc, 1, 4096);
  options.nnodes = Whole(settings, "nnodes", options.nnodes, 1, 65536);
  options.node_rank =
      Whole(settings, "node_rank", options.node_rank, 0, options.nnodes - 1);
  options.master_addr = settings.Text("master_addr", options.master_addr);
  options.master_port =
      Whole(settings, "master_port", options.master_port, 0, 65535);
  options.max_restarts =
      Whole(settings, "max_restarts", options.max_restarts, 0, 1000000);
  options.backoff = Wait(settings, "backoff", options.backoff);
  options.grace = Wait(settings, "grace", options.grace);
  options.failure_grace =
      Wait(settings, "failure_grace", options.failure_grace);
  options.stopped_timeout =
      Wait(settings, "stopped_timeout", options.stopped_timeout);
  options.log_dir = settings.Text("log_dir", options.log_dir);
  options.write_config = settings.Text("write_config", "");
  settings.CheckAllUsed("launch");
  CheckHosts(settings, options);
  CheckCommand(options);
  return options;
}

std::string LaunchConfig(const LaunchOptions& options) {
  std::ostringstream text;
  text << "nproc=" << options.nproc << "\nnnodes=" << options.nnodes
       << "\nmaster_addr=" << options.master_addr
       << "\nmaster_port=" << options.master_port
       << "\nmax_restarts=" << options.max_restarts
       << "\nbackoff=" << options.backoff.count()
       << "\ngrace=" << options.grace.count()
       << "\nfailure_grace=" << options.failure_grace.count()
       << "\nstopped_timeout=" << options.stopped_timeout.count() << "\n";
  if (!options.log_dir.empty()) text << "log_dir=" << options.log_dir << "\n";
  return text.str();
}

std::string LaunchUsage() {
  return R"(Starts a program as several cooperating processes, its ranks.

  launch --nproc=2 -- fashion_mnist --backend=ddp

  --nproc=N             ranks on this host (default 1)
  --log_dir=FOLDER      rank0.log, rank1.log, ... (default: a new folder)
  --max_restarts=N      restart all ranks after a failure (default 0)
  --backoff=SECONDS     pause before the first restart, then doubled, up to
                        30 s (default 1)
  --grace=SECONDS       SIGTERM and SIGINT are passed on to the ranks, which are
                        killed after this time (default 30)
  --failure_grace=SECONDS  the same for the others once a rank failed (default 3)
  --stopped_timeout=SECONDS  a rank stopped for so long has failed; 0: never
                        (default 30)
  --config=FILE         settings from a file: a line nproc=2 for --nproc=2, and
                        lines that begin with '#' are comments; settings of the
                        command line win
  --write_config=FILE   write such a file from the other settings; starts nothing

Several hosts: one launcher on each, all with the same --nproc.

  --nnodes=N            hosts (default 1)
  --node_rank=N         which of them this is, from 0
  --master_addr=HOST    the first host's address (default 127.0.0.1)
  --master_port=PORT    a port of it (default with one host: any free one)

The program is a path, a label (//tools/examples:gan), the name of one of
Bazel's built examples, or a program on PATH. Each rank gets RANK, LOCAL_RANK,
WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, TRAINYARD_RESTART_COUNT
and, unless it is set, OMP_NUM_THREADS (cores / nproc). Rank 0 also gets
TRAINYARD_STORE_FD: a listening socket bound to MASTER_ADDR:MASTER_PORT.

Ends with the code of the rank that failed first (128 + signal for a signal),
with 3 if cancelled ranks ended in order, with 1 for an error of its own.
)";
}

}  // namespace trainyard

#include "tools/launch/launch_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "backends/processes/slurm_lists.h"
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

void CheckHosts(const LaunchOptions& options) {
  if (!options.several_nodes()) return;
  const std::string nodes = std::to_string(options.max_nodes);
  if (options.master_addr.empty()) {
    throw std::invalid_argument("--nnodes is '" + nodes +
                                "', which needs --master_addr too");
  }
  if (options.master_port == 0) {
    throw std::invalid_argument(
        "--master_port is '0' or not given: with several hosts all must know "
        "it");
  }
}

int WholeOf(const std::string& name, const std::string& text, int least,
            int most) {
  int value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      value < least || value > most) {
    throw std::invalid_argument(name + " is '" + text + "', want " +
                                std::to_string(least) + " to " +
                                std::to_string(most));
  }
  return value;
}

constexpr int kMostNodes = 65536;

// "2", or "2:4" for at least 2 and at most 4.
void ReadNodes(const std::string& name, const std::string& text,
               LaunchOptions& options) {
  const size_t colon = text.find(':');
  options.min_nodes = WholeOf(name, text.substr(0, colon), 1, kMostNodes);
  options.max_nodes = colon == std::string::npos
                          ? options.min_nodes
                          : WholeOf(name, text.substr(colon + 1),
                                    options.min_nodes, kMostNodes);
}

// The hosts as a scheduler gives them to each of its processes.
void ReadNodesOfScheduler(const LaunchVariables& variables,
                          LaunchOptions& options) {
  const auto take = [&](const char* size, const char* rank) {
    const auto all = variables(size), here = variables(rank);
    if (!all || !here) return false;
    ReadNodes(size, *all, options);
    options.node_rank = WholeOf(rank, *here, 0, options.max_nodes - 1);
    return true;
  };
  if (take("SLURM_STEP_NUM_NODES", "SLURM_NODEID")) {
    const auto tasks = variables("SLURM_STEP_NUM_TASKS");
    if (tasks && *tasks != std::to_string(options.max_nodes)) {
      throw std::invalid_argument(
          "--nnodes is 'auto', but SLURM_STEP_NUM_TASKS is '" + *tasks +
          "': srun must start one launcher per node: srun "
          "--ntasks-per-node=1");
    }
    if (const auto hosts = variables("SLURM_STEP_NODELIST")) {
      options.master_addr = FirstSlurmHost(*hosts);
    }
    // Other jobs, and other steps of this one, have other ports.
    const auto job = variables("SLURM_JOB_ID"),
               step = variables("SLURM_STEP_ID");
    options.master_port =
        20000 + (WholeOf("SLURM_JOB_ID", job.value_or("0"), 0, 1 << 30) * 7 +
                 WholeOf("SLURM_STEP_ID", step.value_or("0"), 0, 1 << 30)) %
                    12000;
    return;
  }
  if (take("WORLD_SIZE", "JOB_COMPLETION_INDEX")) return;
  throw std::invalid_argument(
      "--nnodes is 'auto', but nothing says how many hosts there are: neither "
      "SLURM_STEP_NUM_NODES and SLURM_NODEID (srun sets them) nor WORLD_SIZE "
      "and JOB_COMPLETION_INDEX (a Kubernetes Indexed Job)");
}

void ReadNodesOfVariables(const LaunchVariables& variables, Settings& settings,
                          LaunchOptions& options) {
  if (const auto nodes = variables("PET_NNODES")) {
    ReadNodes("PET_NNODES", *nodes, options);
    if (const auto rank = variables("PET_NODE_RANK")) {
      options.node_rank =
          WholeOf("PET_NODE_RANK", *rank, 0, options.max_nodes - 1);
    }
    // "auto" and "cpu" leave it to us.
    const auto nproc = variables("PET_NPROC_PER_NODE");
    if (nproc && !settings.Has("nproc") && !nproc->empty() &&
        std::isdigit(static_cast<unsigned char>(nproc->front())) != 0) {
      options.nproc = WholeOf("PET_NPROC_PER_NODE", *nproc, 1, 4096);
    }
  }
}

void ReadMaster(const LaunchVariables& variables, LaunchOptions& options) {
  for (const char* name : {"PET_MASTER_ADDR", "MASTER_ADDR"}) {
    const auto address = variables(name);
    if (address && !address->empty()) options.master_addr = *address;
  }
  for (const char* name : {"PET_MASTER_PORT", "MASTER_PORT"}) {
    if (const auto port = variables(name)) {
      options.master_port = WholeOf(name, *port, 1, 65535);
    }
  }
}

void ReadHosts(const LaunchVariables& variables, Settings& settings,
               LaunchOptions& options) {
  const std::string nodes = settings.Text("nnodes", "");
  if (nodes == "auto") {
    ReadNodesOfScheduler(variables, options);
  } else if (!nodes.empty()) {
    ReadNodes("--nnodes", nodes, options);
  } else {
    ReadNodesOfVariables(variables, settings, options);
  }
  if (settings.Has("node_rank")) {
    options.node_rank =
        Whole(settings, "node_rank", 0, 0, options.max_nodes - 1);
  }
  if (options.several_nodes()) {
    if (options.master_port == 0) options.master_addr.clear();
    ReadMaster(variables, options);
  }
  options.master_addr = settings.Text("master_addr", options.master_addr);
  options.master_port =
      Whole(settings, "master_port", options.master_port, 0, 65535);
}

std::optional<std::string> VariableOfThisProcess(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
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
  return ParseLaunchOptions(arguments, VariableOfThisProcess);
}

LaunchOptions ParseLaunchOptions(const std::vector<std::string>& arguments,
                                 const LaunchVariables& variables) {
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
  ReadHosts(variables, settings, options);
  options.join_wait = Wait(settings, "join_wait", options.join_wait);
  options.join_timeout = Wait(settings, "join_timeout", options.join_timeout);
  options.silence = Wait(settings, "silence", options.silence);
  options.interface = settings.Text("interface", options.interface);
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
  CheckHosts(options);
  CheckCommand(options);
  return options;
}

std::string LaunchConfig(const LaunchOptions& options) {
  std::ostringstream text;
  text << "nproc=" << options.nproc << "\nnnodes=" << options.min_nodes;
  if (options.max_nodes != options.min_nodes) text << ":" << options.max_nodes;
  text << "\njoin_wait=" << options.join_wait.count()
       << "\njoin_timeout=" << options.join_timeout.count()
       << "\nsilence=" << options.silence.count()
       << "\nmaster_addr=" << options.master_addr
       << "\nmaster_port=" << options.master_port
       << "\nmax_restarts=" << options.max_restarts
       << "\nbackoff=" << options.backoff.count()
       << "\ngrace=" << options.grace.count()
       << "\nfailure_grace=" << options.failure_grace.count()
       << "\nstopped_timeout=" << options.stopped_timeout.count() << "\n";
  if (!options.interface.empty()) {
    text << "interface=" << options.interface << "\n";
  }
  if (!options.log_dir.empty()) text << "log_dir=" << options.log_dir << "\n";
  return text.str();
}

std::string LaunchUsage() {
  return R"(Starts a program as several cooperating processes, its ranks.

  launch --nproc=2 -- fashion_mnist_ranks --backend=ddp

  --nproc=N             ranks on this host (default 1)
  --log_dir=FOLDER      rank0.log, rank1.log, ... (default: a new folder, which
                        stays if a rank fails)
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

Several hosts: one launcher on each. The launchers agree on every start: if a
rank, a launcher or a host fails, all ranks are restarted.

  --nnodes=N            hosts (default 1); MIN:MAX starts with MAX, or with at
                        least MIN after --join_wait, and takes others in at the
                        next restart; auto: from srun or an Indexed Job
  --node_rank=N         which of them this is, from 0 (default: as they join)
  --master_addr=HOST    the first host's address (default 127.0.0.1)
  --master_port=PORT    a port of it (default with one host: any free one)
  --join_wait=SECONDS   wait for more than MIN hosts (default 30)
  --join_timeout=SECONDS  give up with fewer than MIN hosts (default 600)
  --silence=SECONDS     a host that says nothing for so long is gone
                        (default 15)
  --interface=NAME      network interface for messages between ranks (default:
                        the one that leads to rank 0)

The program is a path, a label (//tools/examples:gan), the name of one of
Bazel's built examples, or a program on PATH. Each rank gets RANK, LOCAL_RANK,
WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, TRAINYARD_RESTART_COUNT,
TRAINYARD_GENERATION and, unless it is set, OMP_NUM_THREADS (cores / nproc). Rank 0 also gets
TRAINYARD_STORE_FD: a listening socket bound to MASTER_ADDR:MASTER_PORT.

Ends with the code of the rank that failed first (128 + signal for a signal),
with 3 if cancelled ranks ended in order, with 1 for an error of its own.
)";
}

}  // namespace trainyard

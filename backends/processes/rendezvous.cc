#include "backends/processes/rendezvous.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "backends/processes/launcher_table.h"
#include "backends/processes/slurm_lists.h"

namespace trainyard {
namespace {

[[noreturn]] void Refuse(const std::string& message) {
  throw std::invalid_argument("Rendezvous: " + message);
}

std::optional<std::string> Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  bool Has(const char* name) const {
    return name != nullptr && environment_(name).has_value();
  }

  std::string Text(const char* name, const std::string& hint = "") const {
    const std::optional<std::string> text = environment_(name);
    if (!text || text->empty()) {
      Refuse(std::string(name) + " is not set" + hint);
    }
    return *text;
  }

  int64_t Number(const char* name, int64_t low, int64_t high) const {
    const std::string text = Text(name);
    int64_t number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() ||
        number < low || number > high) {
      Refuse(std::string(name) + " is \"" + text + "\", not a number from " +
             std::to_string(low) + " to " + std::to_string(high));
    }
    return number;
  }

  int64_t NumberOr(const char* name, int64_t low, int64_t high,
                   int64_t otherwise) const {
    return Has(name) ? Number(name, low, high) : otherwise;
  }

  const Environment& environment() const { return environment_; }

 private:
  const Environment& environment_;
};

constexpr int64_t kMost = 1'000'000;
constexpr int64_t kPorts = 65535;

// Returns the ranks on this machine, as far as the launcher says. 1: it does
// not.
int64_t LocalSize(const Reader& reader, const LauncherRow& row,
                  const Rendezvous& all) {
  if (reader.Has(row.local_size)) {
    return reader.Number(row.local_size, 1, all.world_size);
  }
  if (reader.Has(row.tasks_per_node)) {
    return SlurmTasksOnNode(reader.Text(row.tasks_per_node),
                            reader.Number(row.node, 0, kMost));
  }
  if (reader.Has(row.nodes)) {
    // Launchers spread ranks evenly. With several nodes it is never all ranks.
    const int64_t nodes = reader.Number(row.nodes, 1, kMost);
    return (all.world_size + nodes - 1) / nodes;
  }
  return 1;
}

Rendezvous Place(const Reader& reader, const LauncherRow& row) {
  Rendezvous all;
  all.launcher = row.launcher;
  all.world_size = reader.Number(row.size, 1, kMost);
  all.rank = reader.Number(row.rank, 0, all.world_size - 1);
  all.local_world_size = LocalSize(reader, row, all);
  if (reader.Has(row.local_rank)) {
    all.local_rank = reader.Number(row.local_rank, 0, all.world_size - 1);
    // A local rank without a local size: at least so many are here.
    const bool said = reader.Has(row.local_size);
    if (said) reader.Number(row.local_rank, 0, all.local_world_size - 1);
    all.local_world_size = std::max(all.local_world_size, all.local_rank + 1);
  }
  return all;
}

// Returns a port that is the same for all processes of a job, and rarely that
// of another job.
uint16_t PortOf(const std::string& job) {
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char letter : job) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619;
  }
  return static_cast<uint16_t>(20000 + hash % 12000);  // below ephemeral ones
}

std::string Address(const Reader& reader, const LauncherRow& row,
                    const Rendezvous& all) {
  if (reader.Has("MASTER_ADDR")) return reader.Text("MASTER_ADDR");
  if (reader.Has(row.address)) return reader.Text(row.address);
  if (all.one_machine() && row.job != nullptr) return all.address;
  if (row.first_host != nullptr) {
    if (const auto host = row.first_host(reader.environment())) return *host;
  }
  const std::string hint = row.address_hint;
  return reader.Text("MASTER_ADDR", hint.empty() ? "" : ": " + hint);
}

uint16_t Port(const Reader& reader, const LauncherRow& row) {
  for (const char* name : {"MASTER_PORT", row.port}) {
    if (reader.Has(name)) {
      return static_cast<uint16_t>(reader.Number(name, 1, kPorts));
    }
  }
  if (row.job == nullptr) reader.Text("MASTER_PORT");
  std::string job = reader.Has(row.job) ? reader.Text(row.job) : row.launcher;
  // Two steps of one Slurm job may run at the same time.
  if (reader.Has("SLURM_STEP_ID")) job += "." + reader.Text("SLURM_STEP_ID");
  return PortOf(job);
}

// A script of Slurm's has the variables of a task, but only srun starts tasks.
void CheckSlurmScript(const Reader& reader) {
  if (!reader.Has("SLURM_PROCID") || reader.Has("SLURM_STEP_ID")) return;
  Refuse("this process is the script of the Slurm job " +
         reader.Text("SLURM_JOB_ID") +
         ", not one of its tasks; start the "
         "program from the script with srun: \"srun PROGRAM\"");
}

// One process per pod was started where the manifest asks for several.
void CheckProcessesPerPod(const Reader& reader) {
  if (reader.Has("LOCAL_RANK") || !reader.Has("PET_NPROC_PER_NODE")) return;
  const std::string processes = reader.Text("PET_NPROC_PER_NODE");
  if (processes == "1") return;
  Refuse("PET_NPROC_PER_NODE is \"" + processes +
         "\", but this process is the only one of its pod; start the program "
         "with tools/launch, which reads the PET_ variables");
}

}  // namespace

Rendezvous RendezvousFromEnvironment(const Environment& environment) {
  const Reader reader(environment);
  const LauncherRow* const row = FindLauncher(environment);
  if (row == nullptr) {
    CheckSlurmScript(reader);
    if (reader.Has("JOB_COMPLETION_INDEX")) {
      Refuse(
          "this process is a pod of a Kubernetes Indexed Job, but WORLD_SIZE "
          "is not set: set it in the manifest to the number of completions");
    }
    Refuse(
        "this process was not started as one of several: none of RANK, "
        "OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, … is set; start it with "
        "tools/launch, torchrun --no-python, mpirun or srun");
  }
  CheckProcessesPerPod(reader);
  Rendezvous all = Place(reader, *row);
  all.address = Address(reader, *row, all);
  all.port = Port(reader, *row);
  for (const char* name : {"TRAINYARD_INTERFACE", "GLOO_SOCKET_IFNAME"}) {
    if (reader.Has(name) && !all.interface) all.interface = reader.Text(name);
  }
  for (const char* name : {"TRAINYARD_GENERATION", row->restarts}) {
    if (!reader.Has(name)) continue;
    all.attempt = reader.Number(name, 0, kMost);
    break;
  }
  all.store_is_elsewhere =
      reader.Has("TORCHELASTIC_USE_AGENT_STORE") &&
      reader.Text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (all.rank == 0 && reader.Has("TRAINYARD_STORE_FD")) {
    all.store_fd =
        static_cast<int>(reader.Number("TRAINYARD_STORE_FD", 0, kMost));
  }
  return all;
}

Rendezvous RendezvousFromEnvironment() {
  return RendezvousFromEnvironment(Variable);
}

int64_t LaunchedProcesses(const Environment& environment) {
  const Reader reader(environment);
  const LauncherRow* const row = FindLauncher(environment);
  return row == nullptr ? 1 : reader.NumberOr(row->size, 1, kMost, 1);
}

int64_t LaunchedProcesses() { return LaunchedProcesses(Variable); }

}  // namespace trainyard

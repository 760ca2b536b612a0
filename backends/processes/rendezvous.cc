#include "backends/processes/rendezvous.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>

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

  bool Has(const char* name) const { return environment_(name).has_value(); }

  std::string Text(const char* name, const char* hint = "") const {
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

 private:
  const Environment& environment_;
};

constexpr int64_t kMost = 1'000'000;
constexpr int64_t kPorts = 65535;

struct Names {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

Rendezvous Ranks(const Reader& reader, const Names& names) {
  Rendezvous all;
  all.world_size = reader.Number(names.size, 1, kMost);
  all.rank = reader.Number(names.rank, 0, all.world_size - 1);
  all.local_world_size =
      reader.NumberOr(names.local_size, 1, all.world_size, all.world_size);
  all.local_rank =
      reader.NumberOr(names.local_rank, 0, all.local_world_size - 1, all.rank);
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

uint16_t PortOr(const Reader& reader, const std::string& job) {
  return reader.Has("MASTER_PORT")
             ? static_cast<uint16_t>(reader.Number("MASTER_PORT", 1, kPorts))
             : PortOf(job);
}

Rendezvous FromTorchrun(const Reader& reader) {
  Rendezvous all =
      Ranks(reader, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
  all.address = reader.Text("MASTER_ADDR");
  all.port = static_cast<uint16_t>(reader.Number("MASTER_PORT", 1, kPorts));
  all.store_is_elsewhere =
      reader.Has("TORCHELASTIC_USE_AGENT_STORE") &&
      reader.Text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  all.attempt = reader.NumberOr("TORCHELASTIC_RESTART_COUNT", 0, kMost, 0);
  if (all.rank == 0 && reader.Has("TRAINYARD_STORE_FD")) {
    all.store_fd =
        static_cast<int>(reader.Number("TRAINYARD_STORE_FD", 0, kMost));
  }
  return all;
}

Rendezvous FromOpenMpi(const Reader& reader) {
  Rendezvous all = Ranks(
      reader, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
               "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  if (!all.one_machine() || reader.Has("MASTER_ADDR")) {
    all.address = reader.Text(
        "MASTER_ADDR", ": pass it on with mpirun -x MASTER_ADDR=<rank 0's>");
  }
  all.port = PortOr(reader, reader.Has("PMIX_NAMESPACE")
                                ? reader.Text("PMIX_NAMESPACE")
                                : "openmpi");
  return all;
}

Rendezvous FromSlurm(const Reader& reader) {
  Rendezvous all = Ranks(reader, {"SLURM_PROCID", "SLURM_NTASKS",
                                  "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"});
  const char* const hosts = reader.Has("SLURM_STEP_NODELIST")
                                ? "SLURM_STEP_NODELIST"
                                : "SLURM_JOB_NODELIST";
  const bool one_node = reader.NumberOr("SLURM_NNODES", 1, kMost, 0) == 1;
  if (one_node) all.local_world_size = all.world_size;
  if (reader.Has("MASTER_ADDR")) {
    all.address = reader.Text("MASTER_ADDR");
  } else if (!one_node) {
    all.address = FirstSlurmHost(reader.Text(hosts));
  }
  all.port = PortOr(reader, reader.Text("SLURM_JOB_ID"));
  return all;
}

}  // namespace

std::string FirstSlurmHost(const std::string& hosts) {
  const size_t bracket = hosts.find('[');
  const size_t comma = hosts.find(',');
  if (bracket == std::string::npos || comma < bracket) {
    return hosts.substr(0, comma);
  }
  const size_t end = hosts.find_first_of("-,]", bracket + 1);
  if (end == std::string::npos) Refuse("\"" + hosts + "\" has no closing ]");
  return hosts.substr(0, bracket) +
         hosts.substr(bracket + 1, end - bracket - 1);
}

Rendezvous RendezvousFromEnvironment(const Environment& environment) {
  const Reader reader(environment);
  if (reader.Has("RANK") || reader.Has("WORLD_SIZE")) {
    return FromTorchrun(reader);
  }
  // Before Slurm: mpirun inside a batch job sees both.
  if (reader.Has("OMPI_COMM_WORLD_RANK")) return FromOpenMpi(reader);
  if (reader.Has("SLURM_PROCID")) return FromSlurm(reader);
  Refuse(
      "this process was not started as one of several: neither RANK nor "
      "OMPI_COMM_WORLD_RANK nor SLURM_PROCID is set; start it with "
      "tools/launch, "
      "torchrun --no-python, mpirun or srun");
}

Rendezvous RendezvousFromEnvironment() {
  return RendezvousFromEnvironment(Variable);
}

int64_t LaunchedProcesses(const Environment& environment) {
  const Reader reader(environment);
  for (const char* size :
       {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (reader.Has(size)) return reader.Number(size, 1, kMost);
  }
  return 1;
}

int64_t LaunchedProcesses() { return LaunchedProcesses(Variable); }

}  // namespace trainyard

// LauncherTable has a row for each launcher: the variables by which it tells a
// process its place among the others.
//
//   const LauncherRow* row = FindLauncher(environment);  // null: none
//   std::printf("started by %s\n", row->launcher);
//
// The rows are tried in order: a launcher that runs inside the job of another
// one stands first. Thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_LAUNCHER_TABLE_H_
#define TRAINYARD_BACKENDS_PROCESSES_LAUNCHER_TABLE_H_

#include <functional>
#include <optional>
#include <span>
#include <string>

namespace trainyard {

// The value of a variable. Unset: there is no such variable.
using Environment = std::function<std::optional<std::string>(const char*)>;

struct LauncherRow {
  const char* launcher;
  // The launcher has started this process if all of these are set.
  const char* found_by;
  const char* found_by_too;  // or null

  // The place of the process. Null: the launcher does not say.
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  // In place of local_size: Slurm's list of tasks per node and the number of
  // this node, or just the number of nodes.
  const char* tasks_per_node;
  const char* node;
  const char* nodes;

  // Where rank 0 is, as the name of its host. Null: only MASTER_ADDR says.
  const char* address;
  const char* port;
  // Returns the first host of a job, from variables of other notations.
  std::optional<std::string> (*first_host)(const Environment&);
  // What to write if several machines are used and nothing says where rank 0
  // is.
  const char* address_hint;

  // Text that differs between jobs, from which a port is derived.
  const char* job;
  // How often the job was started again.
  const char* restarts;
};

std::span<const LauncherRow> LauncherTable();

// The row of the launcher that has started the process with these variables.
const LauncherRow* FindLauncher(const Environment& environment);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_LAUNCHER_TABLE_H_

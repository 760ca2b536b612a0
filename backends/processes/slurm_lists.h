// The two short notations of Slurm's variables: lists of hosts, and numbers of
// tasks per node.
//
//   FirstSlurmHost("n[07-09,12],gpu1")   // "n07"
//   SlurmTasksOnNode("2(x3),1", 3)       // 1
//
// Thread-safe.
#ifndef TRAINYARD_BACKENDS_PROCESSES_SLURM_LISTS_H_
#define TRAINYARD_BACKENDS_PROCESSES_SLURM_LISTS_H_

#include <cstdint>
#include <string>

namespace trainyard {

// Throws std::invalid_argument if a bracket is not closed.
std::string FirstSlurmHost(const std::string& hosts);

// The tasks on node number `node`, from 0. Throws std::invalid_argument if the
// text is not such a list or has fewer nodes.
int64_t SlurmTasksOnNode(const std::string& tasks_per_node, int64_t node);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_SLURM_LISTS_H_

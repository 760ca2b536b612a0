#include "backends/processes/launcher_table.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "backends/processes/slurm_lists.h"

namespace trainyard {
namespace {

std::optional<std::string> FirstHostOfSlurm(const Environment& environment) {
  for (const char* list : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}) {
    if (const auto hosts = environment(list)) return FirstSlurmHost(*hosts);
  }
  return std::nullopt;
}

// "batch 1 node1 4 node2 4": the first entry is the host of the script.
std::optional<std::string> FirstHostOfLsf(const Environment& environment) {
  const auto hosts = environment("LSB_MCPU_HOSTS");
  if (!hosts) return std::nullopt;
  std::istringstream words(*hosts);
  std::string batch, slots, first;
  words >> batch >> slots >> first;
  return first.empty() ? batch : first;
}

// The first line of a file with a host per line.
std::optional<std::string> FirstHostOfPbs(const Environment& environment) {
  const auto path = environment("PBS_NODEFILE");
  if (!path) return std::nullopt;
  std::ifstream file(*path);
  std::string first;
  if (!std::getline(file, first) || first.empty()) return std::nullopt;
  return first;
}

constexpr LauncherRow kRows[] = {
    {.launcher = "torchrun, tools/launch, Ray Train or PyTorchJob",
     .found_by = "RANK",
     .rank = "RANK",
     .size = "WORLD_SIZE",
     .local_rank = "LOCAL_RANK",
     .local_size = "LOCAL_WORLD_SIZE",
     .address_hint = "",
     .restarts = "TORCHELASTIC_RESTART_COUNT"},
    {.launcher = "Open MPI",
     .found_by = "OMPI_COMM_WORLD_RANK",
     .rank = "OMPI_COMM_WORLD_RANK",
     .size = "OMPI_COMM_WORLD_SIZE",
     .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
     .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
     .first_host = FirstHostOfSlurm,
     .address_hint = "pass it on with mpirun -x MASTER_ADDR=<rank 0's host>",
     .job = "PMIX_NAMESPACE"},
    // srun --mpi=pmi2 sets PMI_RANK as well, but not MPI_LOCALRANKID.
    {.launcher = "MPICH or Intel MPI",
     .found_by = "PMI_RANK",
     .found_by_too = "MPI_LOCALRANKID",
     .rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_rank = "MPI_LOCALRANKID",
     .local_size = "MPI_LOCALNRANKS",
     .first_host = FirstHostOfSlurm,
     .address_hint =
         "pass it on with mpiexec -genv MASTER_ADDR <rank 0's host>",
     .job = "SLURM_JOB_ID"},
    {.launcher = "PALS",
     .found_by = "PALS_RANKID",
     .rank = "PALS_RANKID",
     .size = "PMI_SIZE",
     .local_rank = "PALS_LOCAL_RANKID",
     .local_size = "PALS_LOCAL_SIZE",
     .first_host = FirstHostOfPbs,
     .address_hint =
         "pass it on with mpiexec --env MASTER_ADDR=<rank 0's host>",
     .job = "PALS_APID"},
    {.launcher = "LSF's jsrun",
     .found_by = "JSM_NAMESPACE_RANK",
     .rank = "JSM_NAMESPACE_RANK",
     .size = "JSM_NAMESPACE_SIZE",
     .local_rank = "JSM_NAMESPACE_LOCAL_RANK",
     .local_size = "JSM_NAMESPACE_LOCAL_SIZE",
     .first_host = FirstHostOfLsf,
     .address_hint = "pass it on with jsrun -E MASTER_ADDR=<rank 0's host>",
     .job = "LSB_JOBID"},
    {.launcher = "Flux",
     .found_by = "FLUX_TASK_RANK",
     .rank = "FLUX_TASK_RANK",
     .size = "FLUX_JOB_SIZE",
     .local_rank = "FLUX_TASK_LOCAL_ID",
     .nodes = "FLUX_JOB_NNODES",
     .address_hint = "pass it on with flux run --env=MASTER_ADDR=<rank 0's "
                     "host>; flux hostlist -n 0 local prints it",
     .job = "FLUX_JOB_ID"},
    {.launcher = "Slurm's srun",
     .found_by = "SLURM_PROCID",
     .found_by_too = "SLURM_STEP_ID",
     .rank = "SLURM_PROCID",
     .size = "SLURM_STEP_NUM_TASKS",
     .local_rank = "SLURM_LOCALID",
     .tasks_per_node = "SLURM_STEP_TASKS_PER_NODE",
     .node = "SLURM_NODEID",
     .first_host = FirstHostOfSlurm,
     .address_hint = "export it before srun",
     .job = "SLURM_JOB_ID",
     .restarts = "SLURM_RESTART_COUNT"},
    {.launcher = "a launcher that speaks PMI",
     .found_by = "PMI_RANK",
     .found_by_too = "PMI_SIZE",
     .rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .address_hint = "pass it on to every process",
     .job = "PMI_JOBID"},
    {.launcher = "Kubeflow Trainer",
     .found_by = "PET_NODE_RANK",
     .rank = "PET_NODE_RANK",
     .size = "PET_NNODES",
     .address = "PET_MASTER_ADDR",
     .port = "PET_MASTER_PORT",
     .address_hint = "a TrainJob of the torch runtime sets PET_MASTER_ADDR"},
    {.launcher = "a Kubernetes Indexed Job or JobSet",
     .found_by = "JOB_COMPLETION_INDEX",
     .found_by_too = "WORLD_SIZE",
     .rank = "JOB_COMPLETION_INDEX",
     .size = "WORLD_SIZE",
     .address_hint = "set it in the manifest to <job>-0.<headless service>"},
};

bool Has(const Environment& environment, const char* name) {
  return name == nullptr || environment(name).has_value();
}

}  // namespace

std::span<const LauncherRow> LauncherTable() { return kRows; }

const LauncherRow* FindLauncher(const Environment& environment) {
  const auto found =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const auto& row) {
        return Has(environment, row.found_by) &&
               Has(environment, row.found_by_too);
      });
  return found == std::end(kRows) ? nullptr : found;
}

}  // namespace trainyard

#include "tools/launch/rank_environment.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <thread>

namespace trainyard {

std::map<std::string, std::string> RankEnvironment(
    const LaunchOptions& options, const RankPlan& plan, int local_rank,
    std::optional<int> store_fd) {
  std::map<std::string, std::string> all = {
      {"RANK", std::to_string(plan.first_rank + local_rank)},
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"WORLD_SIZE", std::to_string(plan.world_size)},
      {"LOCAL_WORLD_SIZE", std::to_string(options.nproc)},
      {"MASTER_ADDR", plan.address},
      {"MASTER_PORT", std::to_string(plan.port)},
      {"TRAINYARD_RESTART_COUNT", std::to_string(plan.restarts)},
      {"TRAINYARD_GENERATION", std::to_string(plan.generation)},
      {"TRAINYARD_LOG_DIR", options.log_dir},
  };
  if (!options.interface.empty()) {
    all["TRAINYARD_INTERFACE"] = options.interface;
  }
  if (store_fd) all["TRAINYARD_STORE_FD"] = std::to_string(*store_fd);
  // libtorch starts a thread per core in each rank otherwise, and the ranks
  // keep each other from running.
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    all["OMP_NUM_THREADS"] = std::to_string(std::max(1, cores / options.nproc));
  }
  return all;
}

}  // namespace trainyard

#include "trainer/cores/core_use.h"

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>

namespace trainyard {
namespace {

constexpr double kActive = 0.3;

}  // namespace

std::vector<int> AllowedCores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

std::vector<int> ThreadIds() {
  std::vector<int> ids;
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) return ids;
  while (const dirent* const entry = readdir(folder)) {
    const int id = std::atoi(entry->d_name);
    if (id > 0) ids.push_back(id);
  }
  closedir(folder);
  return ids;
}

CoreUseMeter::CoreUseMeter(std::vector<int> cores) : cores_(std::move(cores)) {
  Measure();
}

CoreUse CoreUseMeter::Measure() {
  const auto now = std::chrono::steady_clock::now();
  std::vector<double> busy = BusySeconds();
  std::map<int, ThreadTime> threads = ThreadTimes();
  const double seconds = std::chrono::duration<double>(now - at_).count();

  CoreUse use;
  for (const auto& [id, time] : threads) {
    // What a new thread did belongs to this time, too.
    const auto before = threads_.find(id);
    const ThreadTime start =
        before == threads_.end() ? ThreadTime() : before->second;
    const double run = (time.run - start.run) / seconds;
    const double waited = (time.waited - start.waited) / seconds;
    use.run += run;
    use.waited += waited;
    if (run + waited >= kActive) ++use.active;
  }
  use.busy.resize(cores_.size());
  for (size_t i = 0; i < busy_.size() && i < busy.size(); ++i) {
    use.busy[i] = (busy[i] - busy_[i]) / seconds;
  }
  use.others = std::max(
      0.0, std::accumulate(use.busy.begin(), use.busy.end(), 0.0) - use.run);
  at_ = now;
  busy_ = std::move(busy);
  threads_ = std::move(threads);
  return use;
}

std::vector<double> CoreUseMeter::BusySeconds() const {
  std::vector<double> seconds(cores_.size());
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream file("/proc/stat");
  for (std::string name; file >> name && name.starts_with("cpu");) {
    // User, nice, system, idle, waiting for a disk, interrupts of two kinds,
    // stolen by other virtual machines.
    uint64_t user, nice, system, idle, disk, hard, soft, stolen;
    file >> user >> nice >> system >> idle >> disk >> hard >> soft >> stolen;
    file.ignore(1 << 10, '\n');
    if (!file || name == "cpu") continue;
    const auto found =
        std::find(cores_.begin(), cores_.end(), std::atoi(&name[3]));
    if (found == cores_.end()) continue;
    seconds[static_cast<size_t>(found - cores_.begin())] =
        static_cast<double>(user + nice + system + hard + soft + stolen) /
        ticks;
  }
  return seconds;
}

std::map<int, CoreUseMeter::ThreadTime> CoreUseMeter::ThreadTimes() const {
  std::map<int, ThreadTime> times;
  for (const int id : ThreadIds()) {
    std::ifstream file("/proc/self/task/" + std::to_string(id) + "/schedstat");
    uint64_t run = 0, waited = 0;  // nanoseconds
    if (!(file >> run >> waited)) continue;
    times[id] = {static_cast<double>(run) * 1e-9,
                 static_cast<double>(waited) * 1e-9};
  }
  return times;
}

}  // namespace trainyard

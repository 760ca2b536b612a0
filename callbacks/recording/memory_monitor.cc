#include "callbacks/recording/memory_monitor.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tracking/run_history.h"

namespace trainyard {
namespace {

// The number of the line "<key>: <number> kB", in MiB.
double Read(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key + ":")) continue;
    std::istringstream rest(line.substr(key.size() + 1));
    double kilobytes = 0;
    if (rest >> kilobytes) return kilobytes / 1024;
  }
  throw std::runtime_error("MemoryMonitor: " + path + " does not say " + key);
}

}  // namespace

MemoryMonitor::MemoryMonitor(MemoryMonitorOptions options)
    : options_(std::move(options)) {}

void MemoryMonitor::OnEpochEnd(const EpochEnd& e, Control&) {
  e.history.Update("memory_mb", Read(options_.status_file, "VmRSS"));
  e.history.Update("memory_peak_mb", Read(options_.status_file, "VmHWM"));
}

}  // namespace trainyard

#include "trainer/cores/share_cores.h"

#include <pthread.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "trainer/cores/core_use.h"
#include "trainer/cores/fewer_cores.h"
#include "trainer/cores/short_waits.h"

namespace trainyard {
namespace {

constexpr std::chrono::milliseconds kPeriod(100);
// Between two looks for a team of threads, as long as there is none.
constexpr std::chrono::milliseconds kIdlePeriod(1000);
// How often half of the cores is compared with the other half, in periods.
constexpr int kCompared = 10;

bool AnyIsSet(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

// Whether this process has threads besides the main one and the one that asks:
// cheaper than a look at them.
bool HasMoreThreads() {
  struct stat folder;  // has a link for each thread, and two more
  return stat("/proc/self/task", &folder) == 0 && folder.st_nlink > 2 + 2;
}

// Half of the cores, on which this process stays.
class HalfTheCores {
 public:
  explicit HalfTheCores(const std::vector<int>& all)
      : all_(all), upper_(random_() % 2 == 1), cores_(all, Half()) {}

  // Moves to the other half if others use so much less of it that it pays.
  void Look(const CoreUse& use) {
    const double size = static_cast<double>(cores_.cores().size());
    const auto middle =
        use.busy.begin() + static_cast<std::ptrdiff_t>(all_.size() / 2);
    const double lower = std::accumulate(use.busy.begin(), middle, 0.0);
    const double upper = std::accumulate(middle, use.busy.end(), 0.0);
    difference_ += (upper_ ? upper - lower : lower - upper) - use.run;
    if (++looks_ < kCompared) return;
    const bool pays = difference_ / looks_ > size / 2;
    looks_ = 0;
    difference_ = 0;
    // Two programs on the same half must not go on changing together.
    if (!pays || random_() % 2 == 0) return;
    upper_ = !upper_;
    cores_.MoveTo(Half());
  }

 private:
  std::vector<int> Half() const {
    const auto middle =
        all_.begin() + static_cast<std::ptrdiff_t>(all_.size() / 2);
    return upper_ ? std::vector<int>(middle, all_.end())
                  : std::vector<int>(all_.begin(), middle);
  }

  std::random_device random_;
  const std::vector<int> all_;
  bool upper_;
  FewerCores cores_;
  // What others use of this half more than of the other one.
  double difference_ = 0;
  int looks_ = 0;
};

}  // namespace

ShareCoresOptions ShareCoresFromEnvironment() {
  const char* const share = std::getenv("TRAINYARD_SHARE_CORES");
  if (share != nullptr && std::string_view(share) == "0") {
    return {.short_waits = false, .fewer_cores = false};
  }
  return {.short_waits = !AnyIsSet({"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}),
          .fewer_cores =
              !AnyIsSet({"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"})};
}

ShareCores::ShareCores(const ShareCoresOptions& options) : options_(options) {
  if (!options_.short_waits && !options_.fewer_cores) return;
  // Signals are for the other threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ShareCores::~ShareCores() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool ShareCores::Pause(std::chrono::milliseconds period) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, period, [this] { return end_; });
}

void ShareCores::Watch() {
  const std::vector<int> cores = AllowedCores();
  if (cores.size() < 2) return;  // libgomp waits asleep there
  CorePolicy policy(cores.size());
  std::optional<CoreUseMeter> meter;
  std::optional<ShortWaits> short_waits;
  std::optional<HalfTheCores> half;
  while (Pause(meter ? kPeriod : kIdlePeriod)) {
    if (sharing_ == CoreSharing::kAlone && !HasMoreThreads()) {
      meter.reset();
      continue;
    }
    if (!meter) {
      meter.emplace(cores);
      continue;
    }
    const CoreUse use = meter->Measure();
    const CoreSharing sharing = policy.Decide(use);
    const bool waits = sharing != CoreSharing::kAlone && options_.short_waits;
    const bool on_half =
        sharing == CoreSharing::kHalfTheCores && options_.fewer_cores;
    if (waits && !short_waits) short_waits.emplace();
    if (!waits) short_waits.reset();
    if (on_half && !half) half.emplace(cores);
    if (!on_half) half.reset();
    if (half) half->Look(use);
    sharing_ = sharing;
  }
}

}  // namespace trainyard

// MetricMeans accumulates weighted means of a pass over data, by name. Values
// stay on their device until Read: adding one does not wait for it.
//
//   MetricMeans means;
//   means.Add("loss", loss, /*weight=*/batch.size());
//   const Metrics metrics = means.Read();
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_METRICS_H_
#define TRAINYARD_TRACKING_METRICS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "tracking/device_sum.h"
#include "trainer/state.h"

namespace trainyard {

class MetricMeans final : public Stateful {
 public:
  // REQUIRES: a scalar, and weight > 0. Throws, naming the metric, otherwise.
  void Add(std::string_view name, const at::Tensor& value, double weight);

  // For a batch that does not count: the name is known, as on the processes
  // whose batch does.
  void AddNothing(std::string_view name) { Find(name); }

  // The mean of every name so far, on this process.
  std::map<std::string, double> Read() const;

  // The same over all processes, in one exchange. REQUIRES: the same names in
  // the same order on each. Collective: all ranks must call it.
  std::map<std::string, double> Read(Backend& backend) const;

  void Reset() { means_.clear(); }
  // As Reset, but the names stay, each with nothing under it.
  void Forget();

  // The sums, so that a run can go on in the middle of an epoch.
  State SaveState() const override;
  // Those of all processes. Collective: all ranks must call it.
  State SaveState(Backend& backend) const;
  void LoadState(const State& state) override;

 private:
  struct Mean {
    std::string name;
    double sum = 0;        // of values on the CPU
    DeviceSum device_sum;  // of the others
    double weight = 0;
  };
  Mean& Find(std::string_view name);
  static double SumOf(const Mean& mean);
  // Sum and weight of each metric over all processes.
  std::vector<double> AllSums(Backend& backend) const;

  std::vector<Mean> means_;
  // Metrics come in the same order at every step: the next one is tried first.
  size_t next_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_METRICS_H_

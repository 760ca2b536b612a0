// MetricMeans accumulates weighted means of a pass over data, by name. Values
// stay on their device until Read: adding one does not wait for it.
//
//   MetricMeans means;
//   means.Add("loss", loss, /*weight=*/8);
//   const std::map<std::string, double> metrics = means.Read();
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
  // Throws c10::ValueError, naming the metric, for a value that is not a scalar
  // or a weight that is not positive.
  void Add(std::string_view name, const at::Tensor& value, double weight);

  // For a batch that does not count: makes the name known, as it is on the
  // ranks whose batch counts.
  void AddNothing(std::string_view name) { Find(name); }

  // The mean of every name so far, on this rank.
  std::map<std::string, double> Read() const;

  // The same over all ranks, in one exchange. REQUIRES: the same names in the
  // same order on each. Collective: all ranks must call it.
  std::map<std::string, double> Read(Backend& backend) const;

  void Reset() { means_.clear(); }
  // Like Reset, but keeps the names.
  void Forget();

  // The sums, so that a run can be resumed in the middle of an epoch. Those on
  // a device stay there, as tensors.
  State SaveState() const override;
  // The sums over all ranks. Collective: all ranks must call it.
  State SaveState(Backend& backend) const;
  void LoadState(const State& state) override;

 private:
  struct Mean {
    std::string name;
    double sum = 0;        // of values on the CPU
    DeviceSum device_sum;  // of values on other devices
    double weight = 0;
  };
  Mean& Find(std::string_view name);
  static double SumOf(const Mean& mean);
  // Sum and weight, on the device if values are there.
  static at::Tensor Pair(const Mean& mean, at::Device device);
  // Those of each metric over all ranks, a row each, on the backend's device.
  // REQUIRES: there are metrics.
  at::Tensor AllSums(Backend& backend) const;

  std::vector<Mean> means_;
  // Metrics come in the same order at every step: the next one is tried first.
  size_t next_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_METRICS_H_

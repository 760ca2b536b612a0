// UpdateHistory keeps the metrics of every report in memory, by number of
// updates. (The run's history has one value per epoch.)
//
//   UpdateHistory& history = trainer.Add(UpdateHistory());
//   trainer.Train({.data = LinePoints(16),
//                  .length = Epochs(1),
//                  .report = Every(Updates(1))});
//   for (const auto& [updates, loss] : history.Values("train_loss")) {
//     …
//   }
//
// A resumed run continues with its values. For files, see
// callbacks/recording:track.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_RECORDING_UPDATE_HISTORY_H_
#define TRAINYARD_CALLBACKS_RECORDING_UPDATE_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"
#include "trainer/state.h"

namespace trainyard {

class UpdateHistory final : public Callback, public Stateful {
 public:
  // Number of updates, and the value then.
  using Series = std::vector<std::pair<int64_t, double>>;

  // In alphabetical order.
  std::vector<std::string> Names() const;
  // Oldest first. Empty for an unknown name.
  Series Values(const std::string& name) const;

  void OnRunStart(const RunStart& e, Control&) override;
  void OnMetricsReport(const MetricsReport& e, Control&) override;

  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  std::map<std::string, Series> series_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_RECORDING_UPDATE_HISTORY_H_

// RunHistory holds what a run has measured: the values of each metric in order,
// one per epoch.
//
//   InMemoryRunHistory history;
//   history.Update("train_loss", 0.7);
//   history.Latest("train_loss");  // 0.7
//   history.current_epoch();       // 1: epochs count from 1
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_RUN_HISTORY_H_
#define TRAINYARD_TRACKING_RUN_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/state.h"

namespace trainyard {

class RunHistory {
 public:
  virtual ~RunHistory() = default;

  // The current epoch, counted from 1.
  virtual int64_t current_epoch() const = 0;
  virtual void IncrementEpoch() = 0;

  // Adds a value.
  virtual void Update(const std::string& name, double value) = 0;

  // In alphabetical order.
  virtual std::vector<std::string> Names() const = 0;
  // All values of a metric, oldest first. Empty for an unknown name.
  virtual std::vector<double> Values(const std::string& name) const = 0;
  // Throws std::out_of_range, listing the known names, for an unknown one.
  virtual double Latest(const std::string& name) const = 0;

  // Removes all values and returns to epoch 1.
  virtual void Reset() = 0;

  // What a checkpoint saves of it. Null: nothing.
  virtual Stateful* state() { return nullptr; }
};

class InMemoryRunHistory final : public RunHistory, public Stateful {
 public:
  int64_t current_epoch() const override { return epoch_; }
  void IncrementEpoch() override { ++epoch_; }
  void Update(const std::string& name, double value) override;
  std::vector<std::string> Names() const override;
  std::vector<double> Values(const std::string& name) const override;
  double Latest(const std::string& name) const override;
  void Reset() override;

  // Epoch and values.
  Stateful* state() override { return this; }
  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  int64_t epoch_ = 1;
  std::map<std::string, std::vector<double>> values_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_RUN_HISTORY_H_

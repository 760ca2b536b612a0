// RunHistory is what a run has measured: for each metric its values in order,
// one per epoch.
//
//   InMemoryRunHistory history;
//   history.Update("train_loss", 0.7);
//   history.Latest("train_loss");      // 0.7
//   history.current_epoch();           // 1, as people count
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

  // The epoch under way, counted from 1.
  virtual int64_t current_epoch() const = 0;
  virtual void IncrementEpoch() = 0;

  // Adds a value under the current prefix + `name`.
  virtual void Update(const std::string& name, double value) = 0;

  // Put before the name of every later Update, e.g. "ema_".
  virtual void set_prefix(std::string prefix) = 0;
  virtual const std::string& prefix() const = 0;

  // All names, prefix included, in name order.
  virtual std::vector<std::string> Names() const = 0;
  // All values of a metric, oldest first; none for a name that was never
  // updated.
  virtual std::vector<double> Values(const std::string& name) const = 0;
  // Throws std::out_of_range, which lists the known names, if there is no such
  // metric.
  virtual double Latest(const std::string& name) const = 0;

  // Forgets values and epochs; the prefix stays.
  virtual void Reset() = 0;

  // What a checkpoint saves of it. Null: nothing.
  virtual Stateful* state() { return nullptr; }
};

class InMemoryRunHistory final : public RunHistory, public Stateful {
 public:
  int64_t current_epoch() const override { return epoch_; }
  void IncrementEpoch() override { ++epoch_; }
  void Update(const std::string& name, double value) override;
  void set_prefix(std::string prefix) override { prefix_ = std::move(prefix); }
  const std::string& prefix() const override { return prefix_; }
  std::vector<std::string> Names() const override;
  std::vector<double> Values(const std::string& name) const override;
  double Latest(const std::string& name) const override;
  void Reset() override;

  Stateful* state() override { return this; }
  // Epoch and values; the prefix is whoever set it to restore.
  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  int64_t epoch_ = 1;
  std::string prefix_;
  std::map<std::string, std::vector<double>> values_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_RUN_HISTORY_H_

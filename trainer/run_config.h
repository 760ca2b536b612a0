// RunConfig is the record of what a run will do, made once before it starts and
// shown to every callback. It holds numbers and names only, so that it can be
// printed and compared.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_RUN_CONFIG_H_
#define TRAINYARD_TRAINER_RUN_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

struct RunConfig {
  std::string backend;
  std::string device;
  int64_t num_processes = 1;
  int64_t seed = 0;

  // Unset: no limit.
  std::optional<int64_t> num_epochs = std::nullopt;
  // Samples per batch on one process.
  int64_t per_device_batch_size = 0;
  int64_t eval_per_device_batch_size = 0;
  int64_t grad_accum_steps = 1;
  // Samples per update over all processes.
  int64_t total_batch_size = 0;
  // Samples per batch of an evaluation, over all processes.
  int64_t eval_total_batch_size = 0;

  // Unset: the length of the data is unknown.
  std::optional<int64_t> batches_per_epoch = std::nullopt;
  // Of all evaluation sets together.
  std::optional<int64_t> eval_batches = std::nullopt;
  std::optional<int64_t> updates_per_epoch = std::nullopt;
  // The run ends exactly there, in mid-epoch if need be.
  int64_t total_updates = 0;

  // As people read them: "norm 1", "every 1 epoch".
  std::string clip;
  std::string evaluate;
  std::string checkpoint;
  std::string report;
  // "workers 2, prefetch 4, last batch uneven".
  std::string loader;
  std::string eval_loader;

  // The epoch as people count, from 1: "1/5", or "1" if there is no limit.
  std::string EpochLabel(int64_t epoch) const;

  // Each field's name and value, in the order above.
  std::vector<std::pair<std::string, std::string>> Fields() const;

  // One `name: value` line per field.
  std::string ToString() const;

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

// What has changed since `before`, the Fields that a checkpoint has: one "name
// is value, was value" per field that differs. Fields that it lacks are new,
// not changed.
std::vector<std::string> Differences(
    const RunConfig& now, const std::map<std::string, std::string>& before);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_RUN_CONFIG_H_

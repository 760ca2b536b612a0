// RunConfig is the record of what a run will do, made once before it starts and
// shown to every callback. It holds numbers and names only, so that it can be
// printed and compared.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_RUN_CONFIG_H_
#define TRAINYARD_TRAINER_RUN_CONFIG_H_

#include <cstdint>
#include <string>

namespace trainyard {

struct RunConfig {
  std::string backend;
  std::string device;
  int64_t num_processes = 1;
  int64_t seed = 0;

  int64_t num_epochs = 0;
  // Samples per batch on one process.
  int64_t per_device_batch_size = 0;
  int64_t eval_per_device_batch_size = 0;
  int64_t grad_accum_steps = 1;
  // Samples per update over all processes.
  int64_t total_batch_size = 0;

  int64_t batches_per_epoch = 0;
  int64_t updates_per_epoch = 0;
  // The run ends exactly there, in mid-epoch if need be.
  int64_t max_updates = 0;

  // One `name: value` line per field, in the order above.
  std::string ToString() const;

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_RUN_CONFIG_H_

#include "trainer/run_config.h"

#include <sstream>

namespace trainyard {

std::string RunConfig::ToString() const {
  std::ostringstream out;
  out << "backend: " << backend << "\n"
      << "device: " << device << "\n"
      << "num_processes: " << num_processes << "\n"
      << "seed: " << seed << "\n"
      << "num_epochs: " << num_epochs << "\n"
      << "per_device_batch_size: " << per_device_batch_size << "\n"
      << "eval_per_device_batch_size: " << eval_per_device_batch_size << "\n"
      << "grad_accum_steps: " << grad_accum_steps << "\n"
      << "total_batch_size: " << total_batch_size << "\n"
      << "batches_per_epoch: " << batches_per_epoch << "\n"
      << "updates_per_epoch: " << updates_per_epoch << "\n"
      << "max_updates: " << max_updates << "\n";
  return out.str();
}

}  // namespace trainyard

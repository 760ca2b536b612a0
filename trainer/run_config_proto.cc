#include "trainer/run_config_proto.h"

namespace trainyard {

proto::RunConfig ToProto(const RunConfig& config) {
  proto::RunConfig message;
  message.set_backend(config.backend);
  message.set_device(config.device);
  message.set_num_processes(config.num_processes);
  message.set_seed(config.seed);
  message.set_num_epochs(config.num_epochs);
  message.set_per_device_batch_size(config.per_device_batch_size);
  message.set_eval_per_device_batch_size(config.eval_per_device_batch_size);
  message.set_grad_accum_steps(config.grad_accum_steps);
  message.set_total_batch_size(config.total_batch_size);
  message.set_eval_total_batch_size(config.eval_total_batch_size);
  message.set_batches_per_epoch(config.batches_per_epoch);
  message.set_eval_batches(config.eval_batches);
  message.set_updates_per_epoch(config.updates_per_epoch);
  message.set_max_updates(config.max_updates);
  message.set_clip(config.clip);
  message.set_evaluate(config.evaluate);
  message.set_checkpoint(config.checkpoint);
  message.set_report(config.report);
  return message;
}

RunConfig FromProto(const proto::RunConfig& message) {
  return {.backend = message.backend(),
          .device = message.device(),
          .num_processes = message.num_processes(),
          .seed = message.seed(),
          .num_epochs = message.num_epochs(),
          .per_device_batch_size = message.per_device_batch_size(),
          .eval_per_device_batch_size = message.eval_per_device_batch_size(),
          .grad_accum_steps = message.grad_accum_steps(),
          .total_batch_size = message.total_batch_size(),
          .eval_total_batch_size = message.eval_total_batch_size(),
          .batches_per_epoch = message.batches_per_epoch(),
          .eval_batches = message.eval_batches(),
          .updates_per_epoch = message.updates_per_epoch(),
          .max_updates = message.max_updates(),
          .clip = message.clip(),
          .evaluate = message.evaluate(),
          .checkpoint = message.checkpoint(),
          .report = message.report()};
}

}  // namespace trainyard

// ConvertSyncBatchNorm makes a model's batch normalisation use the batches of
// all ranks, if there are several. UseSyncBatchNorm
// (backends/use_sync_batch_norm.h) says which layers can be converted.
//
//   trainer.Add(ConvertSyncBatchNorm(model.ptr(), *backend));
//
// It acts before the first run or evaluation. Add it on all ranks.
//
// Thread-compatible.
#ifndef TRAINYARD_CALLBACKS_SETUP_CONVERT_SYNC_BATCH_NORM_H_
#define TRAINYARD_CALLBACKS_SETUP_CONVERT_SYNC_BATCH_NORM_H_

#include <memory>

#include "backends/backend.h"
#include "callbacks/callback.h"
#include "trainer/control.h"
#include "trainer/events.h"

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

class ConvertSyncBatchNorm final : public Callback {
 public:
  // Borrows the backend. Throws c10::ValueError for a null model.
  ConvertSyncBatchNorm(std::shared_ptr<torch::nn::Module> model,
                       Backend& backend);

  // Before other callbacks use the model.
  int priority() const override { return -200; }

  // Throws c10::ValueError, naming the layers, if some cannot be converted.
  void OnInitEnd(const InitEnd&, Control&) override;

 private:
  std::shared_ptr<torch::nn::Module> model_;
  Backend& backend_;
};

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_SETUP_CONVERT_SYNC_BATCH_NORM_H_

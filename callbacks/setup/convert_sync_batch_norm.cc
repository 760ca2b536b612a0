#include "callbacks/setup/convert_sync_batch_norm.h"

#include <c10/util/Exception.h>

#include <utility>

#include "backends/use_sync_batch_norm.h"

namespace trainyard {

ConvertSyncBatchNorm::ConvertSyncBatchNorm(
    std::shared_ptr<torch::nn::Module> model, Backend& backend)
    : model_(std::move(model)), backend_(backend) {
  TORCH_CHECK_VALUE(model_ != nullptr,
                    "ConvertSyncBatchNorm: there is no model");
}

void ConvertSyncBatchNorm::OnInitEnd(const InitEnd&, Control&) {
  if (backend_.num_processes() == 1) return;
  UseSyncBatchNorm(*model_, backend_.collectives());
}

}  // namespace trainyard

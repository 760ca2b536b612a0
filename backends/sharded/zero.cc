#include "backends/sharded/zero.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/sharded/sharded_backend.h"
#include "backends/sharded/slice_gatherer.h"
#include "trainer/model/tensor_slice.h"

namespace trainyard {
namespace {

class Zero final : public ShardedBackend {
 public:
  Zero(std::shared_ptr<ProcessGroup> group, std::unique_ptr<Backend> backend,
       const ZeroOptions& options)
      : ShardedBackend("zero" + std::to_string(options.stage), std::move(group),
                       std::move(backend),
                       {.bucket_bytes = options.bucket_bytes,
                        .first_bucket_bytes = options.first_bucket_bytes,
                        .keep_buckets = options.stage == 1},
                       options.broadcast_buffers),
        bucket_bytes_(options.bucket_bytes),
        offload_(options.offload_to_host) {}

  void ParametersLoaded() override {
    const at::NoGradGuard no_gradients;
    for (const ModelTensors& model : models()) {
      for (const NamedTensor& item : model.parameters) {
        const ParamSlice* const own = Find(item.tensor);
        if (own == nullptr || own->slice.is_alias_of(own->whole)) continue;
        own->slice.detach().copy_(
            SliceOf(own->whole.detach(), own->begin, own->slice.numel()));
      }
    }
  }

  void PrepareOptimizer(Optimizer& optimizer) override {
    ShardedBackend::PrepareOptimizer(optimizer);
    std::vector<ParamSlice> trained;
    for (const auto& [name, slice] : optimizer.slices()) {
      trained.push_back(slice);
    }
    gatherers_.insert_or_assign(
        &optimizer,
        std::make_unique<SliceGatherer>(exchange(), trained, bucket_bytes_));
  }

 private:
  ParamSlice MakeSlice(const at::Tensor& parameter) override {
    const ShardRange range =
        layout().RangeOf(parameter.numel(), exchange().rank());
    at::Tensor slice = SliceOf(parameter.detach(), range.begin, range.count);
    if (offload_ && !parameter.is_cpu()) slice = CopyToHost(slice);
    return {parameter, std::move(slice), range.begin};
  }

  void Updated(Optimizer& optimizer) override {
    gatherers_.at(&optimizer)->Gather();
  }

  const size_t bucket_bytes_;
  const bool offload_;
  std::unordered_map<const Optimizer*, std::unique_ptr<SliceGatherer>>
      gatherers_;
};

}  // namespace

std::unique_ptr<Backend> MakeZeroBackend(std::shared_ptr<ProcessGroup> group,
                                         std::unique_ptr<Backend> backend,
                                         const ZeroOptions& options) {
  TORCH_CHECK_VALUE(options.stage == 1 || options.stage == 2, "zero: stage is ",
                    options.stage, "; it must be 1 or 2");
  return std::make_unique<Zero>(std::move(group), std::move(backend), options);
}

}  // namespace trainyard

#include "backends/sharded/fsdp.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/check_loss.h"
#include "backends/sharded/parameter_storage.h"
#include "backends/sharded/sharded_backend.h"
#include "backends/sharded/unit_schedule.h"
#include "trainer/model/tensor_slice.h"

namespace trainyard {
namespace {

class Fsdp final : public ShardedBackend {
 public:
  Fsdp(std::shared_ptr<ProcessGroup> group, std::unique_ptr<Backend> backend,
       const FsdpOptions& options)
      : ShardedBackend("fsdp", std::move(group), std::move(backend),
                       {.bucket_bytes = options.bucket_bytes,
                        .first_bucket_bytes = options.first_bucket_bytes},
                       options.broadcast_buffers),
        offload_(options.offload_to_host),
        units_(std::make_shared<UnitSchedule>(
            this->group(), exchange(),
            UnitScheduleOptions{
                .bucket_bytes = options.bucket_bytes,
                .is_unit = options.is_unit,
                .keep_after_forward = options.keep_after_forward,
                .prefetch = options.prefetch})) {}

  bool shards_parameters() const override { return true; }

  std::optional<TensorSlice> HeldSlice(
      const at::Tensor& parameter) const override {
    if (!parameter.has_storage()) return std::nullopt;
    const auto found = by_storage_.find(StorageKey(parameter));
    if (found == by_storage_.end()) return std::nullopt;
    const ParamSlice& slice = found->second;
    return TensorSlice{"", slice.slice.detach(), slice.whole.sizes().vec(),
                       slice.begin};
  }

  void GatherParameters() override { units_->GatherAll(); }
  void ReleaseParameters() override { units_->ReleaseAll(); }
  void ParametersLoaded() override {
    if (units_->all_gathered()) units_->Cut();
    for (const auto& [key, slice] : by_storage_) Modified(slice);
  }

  void Forward(c10::function_ref<void()> pass) override {
    units_->StartForward();
    try {
      ShardedBackend::Forward(pass);
    } catch (...) {
      units_->AbandonPass();
      throw;
    }
    units_->EndForward();
  }

  void Backward(const at::Tensor& loss,
                const BackwardOptions& options) override {
    CheckLoss(loss);
    units_->StartBackward(options.sync);
    try {
      ShardedBackend::Backward(loss, options);
    } catch (...) {
      units_->AbandonPass();
      throw;
    }
    units_->EndBackward();
  }

  void BackwardWithoutBatch(const BackwardOptions& options) override {
    units_->ReplayForward();
    if (!options.sync) units_->ReplayBackward(nullptr);
    ShardedBackend::BackwardWithoutBatch(options);
    units_->EndReplay();
  }

 private:
  static const void* StorageKey(const at::Tensor& tensor) {
    return tensor.unsafeGetTensorImpl()
        ->unsafe_storage()
        .unsafeGetStorageImpl();
  }

  ParamSlice MakeSlice(const at::Tensor& parameter) override {
    // Its memory will be freed: it must not be that of another tensor.
    if (!OwnsStorage(parameter) ||
        by_storage_.contains(StorageKey(parameter))) {
      parameter.set_data(parameter.detach().clone());
    }
    const ShardRange range =
        layout().RangeOf(parameter.numel(), exchange().rank());
    const at::Tensor values =
        SliceOf(parameter.detach(), range.begin, range.count);
    const bool to_host = offload_ && !parameter.is_cpu();
    ParamSlice slice{parameter, to_host ? CopyToHost(values) : values.clone(),
                     range.begin};
    by_storage_[StorageKey(parameter)] = slice;
    return slice;
  }

  void SlicesMade() override {
    units_->Use(models(), [this](const at::Tensor& parameter) {
      return Find(parameter);
    });
  }

  void Updated(Optimizer& optimizer) override {
    for (const auto& [name, slice] : optimizer.slices()) Modified(slice);
    units_->Refresh();
  }

  // What autograd has saved of a parameter is out of date, as if its memory had
  // been written to.
  static void Modified(const ParamSlice& slice) {
    slice.whole.unsafeGetTensorImpl()->bump_version();
  }

  size_t GroupOf(const at::Tensor& parameter) const override {
    return units_->UnitOf(parameter);
  }
  void Computed(const at::Tensor& parameter) override {
    units_->Computed(parameter);
  }
  void Sending(size_t model, size_t bucket) override {
    units_->Sending(model, bucket);
  }
  void TakePart(const std::vector<ShardReducer*>& by_model) override {
    units_->ReplayBackward([&](size_t model, size_t bucket) {
      by_model[model]->SendThrough(bucket);
    });
  }

  const bool offload_;
  std::unordered_map<const void*, ParamSlice> by_storage_;
  const std::shared_ptr<UnitSchedule> units_;
};

}  // namespace

std::unique_ptr<Backend> MakeFsdpBackend(std::shared_ptr<ProcessGroup> group,
                                         std::unique_ptr<Backend> backend,
                                         const FsdpOptions& options) {
  return std::make_unique<Fsdp>(std::move(group), std::move(backend), options);
}

}  // namespace trainyard

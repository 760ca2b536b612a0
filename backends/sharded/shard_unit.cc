#include "backends/sharded/shard_unit.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <utility>

#include "backends/sharded/parameter_storage.h"
#include "backends/sharded/tensor_buckets.h"
#include "trainer/model/tensor_slice.h"

namespace trainyard {

ShardUnit::ShardUnit(std::string name, SliceExchange& exchange,
                     std::vector<ParamSlice> params, size_t bucket_bytes)
    : name_(std::move(name)),
      exchange_(exchange),
      params_(std::move(params)),
      message_("fsdp: the parameters of " + name_ +
               " are sharded now. They are whole in Backend::Forward (those of "
               "a unit: while it computes) and as long as a WholeParameters "
               "exists") {
  std::vector<at::Tensor> wholes;
  for (const ParamSlice& param : params_) wholes.push_back(param.whole);
  for (std::vector<size_t>& bucket :
       GroupIntoBuckets(wholes, bucket_bytes, bucket_bytes)) {
    std::vector<at::Tensor> together;
    for (const size_t param : bucket) together.push_back(wholes[param]);
    buckets_.push_back({std::move(bucket),
                        ChunkLayout(together, ShardLayout(exchange_.ranks()))});
  }
}

at::TensorOptions ShardUnit::OptionsOf(const Bucket& bucket) const {
  return params_[bucket.params[0]].whole.options().requires_grad(false);
}

bool ShardUnit::InPlace(const Bucket& bucket) const {
  return exchange_.InPlace(bucket.chunks.chunk(), OptionsOf(bucket));
}

void ShardUnit::Put(const Bucket& bucket, at::Tensor& row) const {
  for (size_t place = 0; place < bucket.params.size(); ++place) {
    bucket.chunks.Put(place, exchange_.rank(),
                      params_[bucket.params[place]].slice.detach(), row);
  }
}

void ShardUnit::Join(const Bucket& bucket,
                     const std::vector<at::Tensor>& rows) const {
  for (size_t place = 0; place < bucket.params.size(); ++place) {
    // Its version is its own: what autograd has saved stays valid.
    bucket.chunks.Join(place, rows,
                       params_[bucket.params[place]].whole.variable_data());
  }
}

void ShardUnit::Send(Bucket& bucket) {
  if (bucket.pending || InPlace(bucket)) return;
  const at::NoGradGuard no_gradients;
  at::Tensor buffer =
      at::empty({exchange_.ranks(), bucket.chunks.chunk()}, OptionsOf(bucket));
  at::Tensor row = buffer.select(0, exchange_.rank());
  Put(bucket, row);
  bucket.pending = exchange_.StartGather(buffer);
}

void ShardUnit::Receive(Bucket& bucket) {
  const at::NoGradGuard no_gradients;
  if (InPlace(bucket)) {
    return exchange_.Gather(
        bucket.chunks.chunk(), OptionsOf(bucket),
        [&](at::Tensor& row) { Put(bucket, row); },
        [&](const std::vector<at::Tensor>& rows) { Join(bucket, rows); });
  }
  const auto pending = std::move(bucket.pending);
  Join(bucket, pending->Wait().unbind(0));
}

void ShardUnit::Start() {
  if (whole_ || started_) return;
  started_ = true;
  for (Bucket& bucket : buckets_) Send(bucket);
}

void ShardUnit::Gather() {
  if (whole_) return;
  for (const ParamSlice& param : params_) RestoreStorage(param.whole);
  whole_ = true;
  Refresh();
}

void ShardUnit::Refresh() {
  if (!whole_) return;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    // One bucket is on its way while the one before it is copied.
    Send(buckets_[i]);
    if (i + 1 < buckets_.size()) Send(buckets_[i + 1]);
    Receive(buckets_[i]);
  }
  started_ = false;
}

void ShardUnit::Release() {
  if (started_) {
    for (Bucket& bucket : buckets_) {
      if (!bucket.pending) continue;
      bucket.pending->Wait();
      bucket.pending.reset();
    }
    started_ = false;
  }
  if (!whole_) return;
  for (const ParamSlice& param : params_) {
    // One that was in another unit before may have none.
    if (StorageBytes(param.whole) > 0) ReleaseStorage(param.whole, message_);
  }
  whole_ = false;
}

void ShardUnit::Cut() {
  const at::NoGradGuard no_gradients;
  for (const ParamSlice& param : params_) {
    param.slice.detach().copy_(
        SliceOf(param.whole.detach(), param.begin, param.slice.numel()));
  }
}

}  // namespace trainyard

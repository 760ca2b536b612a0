#include "backends/sharded/slice_gatherer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <deque>
#include <memory>
#include <utility>

#include "backends/sharded/tensor_buckets.h"

namespace trainyard {

SliceGatherer::SliceGatherer(SliceExchange& exchange,
                             std::vector<ParamSlice> params,
                             size_t bucket_bytes)
    : exchange_(exchange), params_(std::move(params)) {
  std::vector<at::Tensor> wholes;
  for (const ParamSlice& param : params_) wholes.push_back(param.whole);
  for (std::vector<size_t>& bucket :
       GroupIntoBuckets(wholes, bucket_bytes, bucket_bytes)) {
    AddBucket(std::move(bucket));
  }
}

void SliceGatherer::AddBucket(std::vector<size_t> params) {
  std::vector<at::Tensor> wholes;
  for (const size_t param : params) wholes.push_back(params_[param].whole);
  buckets_.push_back(
      {std::move(params), ChunkLayout(wholes, ShardLayout(exchange_.ranks()))});
}

void SliceGatherer::Gather() {
  const at::NoGradGuard no_gradients;
  // One bucket is on its way while the one before it is copied.
  std::deque<std::pair<const Bucket*, std::unique_ptr<SliceExchange::Pending>>>
      pending;
  const auto join = [&](const Bucket& bucket,
                        const std::vector<at::Tensor>& rows) {
    for (size_t place = 0; place < bucket.params.size(); ++place) {
      const ParamSlice& param = params_[bucket.params[place]];
      const bool shared = param.slice.is_alias_of(param.whole);
      bucket.chunks.Join(place, rows, param.whole.detach(),
                         shared ? exchange_.rank() : -1);
    }
  };
  const auto complete = [&] {
    const auto [bucket, work] = std::move(pending.front());
    pending.pop_front();
    join(*bucket, work->Wait().unbind(0));
  };
  const auto put = [&](const Bucket& bucket, at::Tensor& row) {
    for (size_t place = 0; place < bucket.params.size(); ++place) {
      bucket.chunks.Put(place, exchange_.rank(),
                        params_[bucket.params[place]].slice.detach(), row);
    }
  };
  for (const Bucket& bucket : buckets_) {
    const at::TensorOptions options =
        params_[bucket.params[0]].whole.options().requires_grad(false);
    if (exchange_.InPlace(bucket.chunks.chunk(), options)) {
      exchange_.Gather(
          bucket.chunks.chunk(), options,
          [&](at::Tensor& row) { put(bucket, row); },
          [&](const std::vector<at::Tensor>& rows) { join(bucket, rows); });
      continue;
    }
    at::Tensor buffer =
        at::empty({exchange_.ranks(), bucket.chunks.chunk()}, options);
    at::Tensor row = buffer.select(0, exchange_.rank());
    put(bucket, row);
    pending.emplace_back(&bucket, exchange_.StartGather(buffer));
    if (pending.size() > 1) complete();
  }
  while (!pending.empty()) complete();
}

}  // namespace trainyard

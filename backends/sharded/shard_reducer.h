// ShardReducer averages the gradients of a model over all ranks while a
// backward pass computes them, and leaves each rank the gradients of its
// slices.
//
//   ShardReducer reducer(exchange, slices, {});
//   reducer.BeforeBackward();  // for the last batch of a window only
//   loss.backward();
//   reducer.AfterBackward();   // slices have gradients, parameters have none
//
// Parameters are exchanged in buckets, in the reverse order of the model. A
// bucket is sent as soon as its gradients are computed. A parameter that got no
// gradient on any rank gets none; one that got none on some ranks counts as
// zero there. Gradients that earlier passes have left in the parameters are
// part of the sum. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_SHARD_REDUCER_H_
#define TRAINYARD_BACKENDS_SHARDED_SHARD_REDUCER_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backends/sharded/chunk_layout.h"
#include "backends/sharded/slice_exchange.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

struct ShardReducerOptions {
  // Gradients are exchanged in buckets of about this size. The first is smaller
  // so that its exchange starts early. REQUIRES: > 0.
  size_t bucket_bytes = size_t{25} << 20;
  size_t first_bucket_bytes = size_t{1} << 20;
  // Whether the memory of the buckets, as large as all gradients, is kept from
  // one window to the next. Otherwise a bucket is freed as soon as it was sent.
  bool keep_buckets = false;
  // Called in every backward pass when the gradient of a parameter is computed,
  // with its index. May be null.
  std::function<void(size_t)> computed = nullptr;
  // Called when a bucket is sent, with its number. May be null.
  std::function<void(size_t)> sent = nullptr;
  // The group of a parameter: a bucket has parameters of one group only. Null:
  // all are in one.
  std::function<size_t(size_t)> group_of = nullptr;
};

class ShardReducer {
 public:
  // For parameters that require a gradient. Borrows the exchange.
  ShardReducer(SliceExchange& exchange, std::vector<ParamSlice> params,
               ShardReducerOptions options);
  ~ShardReducer();
  ShardReducer(const ShardReducer&) = delete;
  ShardReducer& operator=(const ShardReducer&) = delete;

  const std::vector<ParamSlice>& params() const { return params_; }

  // Called before and after the backward pass that exchanges gradients.
  // Collective.
  void BeforeBackward();
  void AfterBackward();

  // For a rank that has no backward pass: sends the buckets up to this one, as
  // others do within theirs. REQUIRES: BeforeBackward was called.
  void SendThrough(size_t bucket);

 private:
  struct Bucket {
    std::vector<size_t> params;
    ChunkLayout chunks;
    at::Tensor buffer = {};
    size_t missing = 0;
    std::unique_ptr<SliceExchange::Pending> sum = nullptr;
  };
  struct Hooks;

  void AddBuckets(const std::vector<size_t>& params, bool first);
  void AddBucket(std::vector<size_t> params);
  // Counts a parameter as filled.
  void Fill(size_t param);
  // Takes over the gradient of a parameter, or zeros if there is none.
  void Cut(size_t param, at::Tensor& buffer);
  void SendReady();
  void Complete(Bucket& bucket);

  SliceExchange& exchange_;
  const std::vector<ParamSlice> params_;
  const ShardReducerOptions options_;
  std::vector<Bucket> buckets_;
  // The bucket of each parameter and its place there.
  std::vector<std::pair<size_t, size_t>> places_;
  std::unique_ptr<Hooks> hooks_;
  // Of the current pass.
  bool armed_ = false;
  std::vector<bool> filled_;
  size_t sent_ = 0;
  size_t completed_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_SHARD_REDUCER_H_

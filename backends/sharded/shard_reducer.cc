#include "backends/sharded/shard_reducer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/node.h>
#include <torch/csrc/autograd/variable.h>

#include "backends/sharded/tensor_buckets.h"

namespace trainyard {
namespace {

// How many buckets may be on their way: more would keep the memory that
// sharding is to save.
constexpr size_t kInFlight = 2;

using torch::autograd::Node;
using torch::autograd::variable_list;

// Calls a function after a gradient was added to its parameter.
class AfterGradient final : public torch::autograd::FunctionPostHook {
 public:
  explicit AfterGradient(std::function<void()> done) : done_(std::move(done)) {}

  variable_list operator()(const variable_list& outputs,
                           const variable_list&) override {
    done_();
    return outputs;
  }

 private:
  const std::function<void()> done_;
};

}  // namespace

struct ShardReducer::Hooks {
  Hooks(const std::vector<ParamSlice>& params,
        const std::function<void(size_t)>& done) {
    for (size_t i = 0; i < params.size(); ++i) {
      auto node = torch::autograd::impl::grad_accumulator(params[i].whole);
      const uintptr_t key = node->add_post_hook(
          std::make_unique<AfterGradient>([done, i] { done(i); }));
      hooks.emplace_back(std::move(node), key);
    }
  }
  ~Hooks() {
    for (auto& [node, key] : hooks) node->del_post_hook(key);
  }
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  // Parameters hold their nodes weakly.
  std::vector<std::pair<c10::intrusive_ptr<Node>, uintptr_t>> hooks;
};

ShardReducer::ShardReducer(SliceExchange& exchange,
                           std::vector<ParamSlice> params,
                           ShardReducerOptions options)
    : exchange_(exchange),
      params_(std::move(params)),
      options_(std::move(options)),
      places_(params_.size()),
      filled_(params_.size()) {
  TORCH_CHECK_VALUE(
      options_.bucket_bytes > 0 && options_.first_bucket_bytes > 0,
      "ShardReducer: bucket_bytes is ", options_.bucket_bytes,
      ", first_bucket_bytes ", options_.first_bucket_bytes);
  // A backward pass computes gradients from the last parameter to the first.
  std::vector<size_t> run;  // of one group
  const auto group_of = [&](size_t param) {
    return options_.group_of ? options_.group_of(param) : 0;
  };
  for (size_t i = params_.size(); i-- > 0;) {
    if (!run.empty() && group_of(run.back()) != group_of(i)) {
      AddBuckets(run, /*first=*/buckets_.empty());
      run.clear();
    }
    run.push_back(i);
  }
  AddBuckets(run, /*first=*/buckets_.empty());
  hooks_ = std::make_unique<Hooks>(params_, [this](size_t param) {
    if (armed_ && !filled_[param]) Fill(param);
    if (options_.computed) options_.computed(param);
    if (armed_) SendReady();
  });
}

void ShardReducer::AddBuckets(const std::vector<size_t>& params, bool first) {
  std::vector<at::Tensor> wholes;
  for (const size_t param : params) wholes.push_back(params_[param].whole);
  for (std::vector<size_t>& bucket : GroupIntoBuckets(
           wholes, first ? options_.first_bucket_bytes : options_.bucket_bytes,
           options_.bucket_bytes)) {
    for (size_t& param : bucket) param = params[param];
    AddBucket(std::move(bucket));
  }
}

ShardReducer::~ShardReducer() = default;

void ShardReducer::AddBucket(std::vector<size_t> params) {
  std::vector<at::Tensor> wholes;
  for (const size_t param : params) {
    places_[param] = {buckets_.size(), wholes.size()};
    wholes.push_back(params_[param].whole);
  }
  buckets_.push_back(
      {std::move(params), ChunkLayout(wholes, ShardLayout(exchange_.ranks()))});
}

void ShardReducer::BeforeBackward() {
  filled_.assign(params_.size(), false);
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.params.size();
    bucket.sum.reset();
  }
  sent_ = completed_ = 0;
  armed_ = true;
}

void ShardReducer::Fill(size_t param) {
  Bucket& bucket = buckets_[places_[param].first];
  filled_[param] = true;
  --bucket.missing;
  const at::TensorOptions options =
      params_[param].whole.options().requires_grad(false);
  // In place, gradients are cut when all of the bucket are there.
  if (exchange_.InPlace(bucket.chunks.chunk(), options)) return;
  if (!bucket.buffer.defined()) {
    bucket.buffer =
        at::empty({exchange_.ranks(), bucket.chunks.chunk()}, options);
  }
  Cut(param, bucket.buffer);
}

void ShardReducer::Cut(size_t param, at::Tensor& buffer) {
  const at::NoGradGuard no_gradients;
  const auto [index, place] = places_[param];
  const Bucket& bucket = buckets_[index];
  at::Tensor& gradient = params_[param].whole.mutable_grad();
  if (gradient.defined()) {
    TORCH_CHECK_VALUE(gradient.layout() == at::kStrided,
                      "a sharded backend cannot exchange a sparse gradient; "
                      "use dense gradients, or the backend \"ddp\"");
    bucket.chunks.Cut(place, gradient,
                      1.0 / static_cast<double>(exchange_.ranks()), buffer);
  } else {
    bucket.chunks.CutZeros(place, buffer);
  }
  bucket.chunks.SetFlag(place, gradient.defined(), buffer);
  gradient.reset();
}

void ShardReducer::SendReady() {
  // In order, because all ranks must send the same.
  while (sent_ < buckets_.size() && buckets_[sent_].missing == 0) {
    if (sent_ - completed_ == kInFlight) Complete(buckets_[completed_]);
    if (options_.sent) options_.sent(sent_);
    Bucket& bucket = buckets_[sent_++];
    const at::TensorOptions options =
        params_[bucket.params[0]].whole.options().requires_grad(false);
    if (!exchange_.InPlace(bucket.chunks.chunk(), options)) {
      bucket.sum = exchange_.StartSum(bucket.buffer);
      continue;
    }
    bucket.sum = exchange_.StartSum(bucket.chunks.chunk(), options,
                                    [&](at::Tensor& buffer) {
                                      for (const size_t param : bucket.params)
                                        Cut(param, buffer);
                                    });
  }
}

void ShardReducer::Complete(Bucket& bucket) {
  ++completed_;
  const at::NoGradGuard no_gradients;
  const at::Tensor row = bucket.sum->Wait();
  bucket.sum.reset();
  if (!options_.keep_buckets) bucket.buffer.reset();
  const std::vector<float> used = bucket.chunks.Flags(row);
  for (size_t place = 0; place < bucket.params.size(); ++place) {
    if (used[place] == 0) continue;
    const at::Tensor& slice = params_[bucket.params[place]].slice;
    const at::Tensor mean =
        bucket.chunks.SliceIn(place, exchange_.rank(), row).to(slice.device());
    at::Tensor& gradient = slice.mutable_grad();
    if (gradient.defined()) {  // of an earlier loss
      gradient.add_(mean);
    } else {
      gradient = mean;
    }
  }
}

void ShardReducer::SendThrough(size_t bucket) {
  for (size_t i = sent_; i <= bucket && i < buckets_.size(); ++i) {
    for (const size_t param : buckets_[i].params) {
      if (!filled_[param]) Fill(param);
    }
  }
  SendReady();
}

void ShardReducer::AfterBackward() {
  armed_ = false;
  for (size_t i = params_.size(); i-- > 0;) {
    if (!filled_[i]) Fill(i);
  }
  SendReady();
  while (completed_ < buckets_.size()) Complete(buckets_[completed_]);
}

}  // namespace trainyard

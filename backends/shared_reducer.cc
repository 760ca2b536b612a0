#include "backends/shared_reducer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

#include "backends/processes/shared_ranks.h"
#include "backends/processes/shared_segment.h"

namespace trainyard {
namespace {

// Gradients start at multiples of it, as vector instructions like it.
constexpr size_t kAlignment = 64;

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

struct Bucket {
  std::vector<size_t> parameters;
  // In bytes of each rank's part.
  size_t begin = 0;
  size_t end = 0;

  // Of the current pass.
  size_t missing = 0;
  bool reduced = false;
};

// Writes the mean of the ranks' elements [begin, end) to all ranks.
template <class T>
void AverageRange(const std::vector<std::byte*>& parts, size_t begin,
                  size_t end) {
  constexpr size_t kBlock = 1024;  // stays in the first-level cache
  const T scale = T(1) / static_cast<T>(parts.size());
  std::array<T, kBlock> sum;
  for (size_t at = begin; at < end; at += kBlock) {
    const size_t count = std::min(kBlock, end - at);
    const auto part = [&](size_t rank) {
      return reinterpret_cast<T*>(parts[rank]) + at;
    };
    std::copy_n(part(0), count, sum.data());
    for (size_t rank = 1; rank < parts.size(); ++rank) {
      const T* const next = part(rank);
      for (size_t i = 0; i < count; ++i) sum[i] += next[i];
    }
    for (size_t i = 0; i < count; ++i) sum[i] *= scale;
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      std::copy_n(sum.data(), count, part(rank));
    }
  }
}

// Calls a function when the gradient of a parameter is complete.
class AfterAccumulation final : public torch::autograd::FunctionPostHook {
 public:
  explicit AfterAccumulation(std::function<void()> call)
      : call_(std::move(call)) {}
  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& outputs,
      const torch::autograd::variable_list&) override {
    call_();
    return outputs;
  }

 private:
  const std::function<void()> call_;
};

class SharedReducerImpl final : public SharedReducer {
 public:
  SharedReducerImpl(ProcessGroup& group, std::vector<at::Tensor> parameters,
                    std::vector<std::string> names)
      : group_(group),
        ranks_(*group.shared_ranks()),
        parameters_(std::move(parameters)),
        names_(std::move(names)),
        element_(parameters_[0].element_size()) {}

  // Returns whether all ranks have the memory.
  bool Prepare(size_t bucket_bytes) {
    AssignBuckets(bucket_bytes);
    header_ =
        RoundUp(2 * buckets_.size() * ranks() * sizeof(SharedCounter), kPage);
    segment_ = group_.MakeSegment(header_ + ranks() * part_);
    if (!segment_) return false;
    for (size_t rank = 0; rank < ranks(); ++rank) {
      parts_.push_back(segment_->data() + header_ + rank * part_);
    }
    MakeViews();
    AddHooks();
    return true;
  }

  ~SharedReducerImpl() override {
    for (const auto& [accumulator, hook] : hooks_) {
      accumulator->del_post_hook(hook);
    }
  }

  void BeforeBackward() override {
    ++pass_;
    active_ = true;
    std::fill(arrived_.begin(), arrived_.end(), false);
    posted_.clear();
    for (Bucket& bucket : buckets_) {
      bucket.missing = bucket.parameters.size();
      bucket.reduced = false;
    }
  }

  void AfterBackward() override {
    active_ = false;
    CheckAllArrived();
    for (Bucket* const bucket : posted_) {
      if (bucket->reduced) continue;
      for (size_t rank = 0; rank < ranks(); ++rank) {
        ranks_.Wait(Posted(*bucket, rank), pass_, static_cast<int64_t>(rank));
      }
      Reduce(*bucket);
    }
    for (const Bucket& bucket : buckets_) {
      for (size_t rank = 0; rank < ranks(); ++rank) {
        ranks_.Wait(Reduced(bucket, rank), pass_, static_cast<int64_t>(rank));
      }
    }
  }

 private:
  static constexpr size_t kPage = 4096;

  size_t ranks() const { return static_cast<size_t>(ranks_.size()); }
  size_t own() const { return static_cast<size_t>(ranks_.rank()); }

  // The backward pass computes gradients in about the reverse order of the
  // parameters.
  void AssignBuckets(size_t limit) {
    offsets_.resize(parameters_.size());
    bucket_of_.resize(parameters_.size());
    arrived_.resize(parameters_.size());
    size_t at = 0;
    for (size_t i = parameters_.size(); i-- > 0;) {
      const size_t bytes = RoundUp(parameters_[i].nbytes(), kAlignment);
      if (buckets_.empty() || at + bytes - buckets_.back().begin > limit) {
        buckets_.push_back({.begin = at});
      }
      buckets_.back().parameters.push_back(i);
      bucket_of_[i] = buckets_.size() - 1;
      offsets_[i] = at;
      at += bytes;
      buckets_.back().end = at;
    }
    part_ = RoundUp(at, kPage);
  }

  void MakeViews() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor& parameter = parameters_[i];
      // The layout of the parameter, as autograd gives gradients.
      const bool dense = parameter.is_non_overlapping_and_dense();
      const at::Tensor like =
          dense ? parameter.detach() : parameter.detach().contiguous();
      views_.push_back(at::from_blob(
          parts_[own()] + offsets_[i], like.sizes(), like.strides(),
          [segment = segment_](void*) {}, like.options()));
    }
  }

  void AddHooks() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      auto accumulator =
          torch::autograd::impl::grad_accumulator(parameters_[i]);
      auto hook = std::make_unique<AfterAccumulation>([this, i] {
        if (active_) Arrive(i);
      });
      const uintptr_t key = accumulator->add_post_hook(std::move(hook));
      hooks_.emplace_back(std::move(accumulator), key);
    }
  }

  void Arrive(size_t i) {
    TORCH_CHECK_VALUE(!arrived_[i], "ddp: the gradient of ", names_[i],
                      " was computed twice in one pass; set static_graph");
    arrived_[i] = true;
    Bucket& bucket = buckets_[bucket_of_[i]];
    if (--bucket.missing > 0) return;
    Post(bucket);
    for (Bucket* const other : posted_) {
      if (!other->reduced && AllPosted(*other)) Reduce(*other);
    }
  }

  void Post(Bucket& bucket) {
    const at::NoGradGuard no_gradients;
    for (const size_t i : bucket.parameters) {
      at::Tensor& gradient = parameters_[i].mutable_grad();
      if (gradient.is_same(views_[i])) continue;  // it was added to in place
      TORCH_CHECK_VALUE(gradient.defined() && gradient.layout() == at::kStrided,
                        "ddp: the gradient of ", names_[i], " is not dense");
      views_[i].copy_(gradient);
      gradient = views_[i];
    }
    posted_.push_back(&bucket);
    ranks_.Publish(Posted(bucket, own()), pass_);
  }

  bool AllPosted(const Bucket& bucket) const {
    for (size_t rank = 0; rank < ranks(); ++rank) {
      if (!SharedRanks::Reached(Posted(bucket, rank), pass_)) return false;
    }
    return true;
  }

  // Averages this rank's share of the bucket. REQUIRES: all ranks posted it.
  void Reduce(Bucket& bucket) {
    const size_t lines = (bucket.end - bucket.begin) / kAlignment;
    const auto begin_of = [&](size_t rank) {
      return (bucket.begin + lines * rank / ranks() * kAlignment) / element_;
    };
    if (element_ == sizeof(float)) {
      AverageRange<float>(parts_, begin_of(own()), begin_of(own() + 1));
    } else {
      AverageRange<double>(parts_, begin_of(own()), begin_of(own() + 1));
    }
    bucket.reduced = true;
    ranks_.Publish(Reduced(bucket, own()), pass_);
  }

  void CheckAllArrived() const {
    std::string missing;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (!arrived_[i]) missing += (missing.empty() ? "" : ", ") + names_[i];
    }
    TORCH_CHECK_VALUE(
        missing.empty(),
        "ddp: parameters have not finished reduction: ", missing,
        " got no gradient in this pass; set find_unused_parameters if the loss "
        "does not depend on all parameters");
  }

  SharedCounter& CounterAt(size_t index) const {
    return *std::launder(reinterpret_cast<SharedCounter*>(
        segment_->data() + index * sizeof(SharedCounter)));
  }
  // The last pass for which the rank has posted the bucket.
  SharedCounter& Posted(const Bucket& bucket, size_t rank) const {
    return CounterAt(2 * (Index(bucket) * ranks() + rank));
  }
  // The last pass for which the rank has averaged its share.
  SharedCounter& Reduced(const Bucket& bucket, size_t rank) const {
    return CounterAt(2 * (Index(bucket) * ranks() + rank) + 1);
  }
  size_t Index(const Bucket& bucket) const {
    return static_cast<size_t>(&bucket - buckets_.data());
  }

  ProcessGroup& group_;
  SharedRanks& ranks_;
  std::vector<at::Tensor> parameters_;
  const std::vector<std::string> names_;
  const size_t element_;
  std::vector<Bucket> buckets_;
  std::vector<size_t> bucket_of_;
  std::vector<size_t> offsets_;
  size_t header_ = 0;
  size_t part_ = 0;
  std::shared_ptr<SharedSegment> segment_;
  std::vector<std::byte*> parts_;
  std::vector<at::Tensor> views_;
  std::vector<std::pair<c10::intrusive_ptr<torch::autograd::Node>, uintptr_t>>
      hooks_;

  // Of the current pass.
  uint32_t pass_ = 0;
  bool active_ = false;
  std::vector<bool> arrived_;
  std::vector<Bucket*> posted_;
};

bool Suitable(const std::vector<at::Tensor>& parameters) {
  if (parameters.empty()) return false;
  const at::ScalarType type = parameters[0].scalar_type();
  if (type != at::kFloat && type != at::kDouble) return false;
  return std::all_of(
      parameters.begin(), parameters.end(), [&](const at::Tensor& parameter) {
        return parameter.is_cpu() && parameter.scalar_type() == type;
      });
}

}  // namespace

std::unique_ptr<SharedReducer> MakeSharedReducer(
    ProcessGroup& group, const std::vector<at::Tensor>& parameters,
    const std::vector<std::string>& names, size_t bucket_bytes) {
  TORCH_CHECK_VALUE(parameters.size() == names.size(),
                    "MakeSharedReducer: ", parameters.size(),
                    " parameters have ", names.size(), " names");
  if (group.shared_ranks() == nullptr || !Suitable(parameters)) return nullptr;
  auto reducer = std::make_unique<SharedReducerImpl>(group, parameters, names);
  if (!reducer->Prepare(bucket_bytes)) return nullptr;
  return reducer;
}

}  // namespace trainyard

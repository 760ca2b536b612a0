#include "trainer/data/loader.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace trainyard {

Loader::Loader(DatasetPtr dataset, std::shared_ptr<const Sampler> sampler,
               LoaderOptions options)
    : dataset_(std::move(dataset)),
      sampler_(std::move(sampler)),
      options_(options) {
  TORCH_CHECK_VALUE(dataset_ != nullptr, "Loader: there is no dataset");
  TORCH_CHECK_VALUE(sampler_ != nullptr, "Loader: there is no sampler");
  TORCH_CHECK_VALUE(options_.batch_size >= 1, "Loader: batch_size is ",
                    options_.batch_size, "; it must be at least 1");
  const int64_t samples = sampler_->size();
  batches_ = samples / options_.batch_size;
  if (!options_.drop_last && samples % options_.batch_size != 0) ++batches_;
  TORCH_CHECK_VALUE(batches_ > 0, "Loader: with drop_last, ", samples,
                    " samples do not fill one batch of ", options_.batch_size);
  next_ = batches_;  // nothing before StartEpoch
}

void Loader::StartEpoch(int64_t epoch, int64_t first_batch) {
  TORCH_CHECK_VALUE(first_batch >= 0 && first_batch <= batches_,
                    "Loader: batch ", first_batch, " is not in an epoch of ",
                    batches_);
  order_ = sampler_->Order(epoch);
  next_ = first_batch;
}

std::optional<AnyBatch> Loader::Next() {
  if (next_ >= batches_) return std::nullopt;
  const int64_t begin = next_++ * options_.batch_size;
  const int64_t size = std::min(options_.batch_size, order_.size(0) - begin);
  return dataset_->Gather(order_.narrow(0, begin, size));
}

}  // namespace trainyard

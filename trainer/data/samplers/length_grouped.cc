#include "trainer/data/samplers/length_grouped.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randperm.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <vector>

#include "trainer/data/sample_random.h"

namespace trainyard {

LengthGroupedSampler::LengthGroupedSampler(
    const at::Tensor& lengths, const LengthGroupedSamplerOptions& options)
    : options_(options) {
  TORCH_CHECK_VALUE(
      lengths.defined() && lengths.dim() == 1 && lengths.size(0) > 0,
      "LengthGroupedSampler: lengths must be a list of numbers, and not empty");
  TORCH_CHECK_VALUE(options.batch_size >= 1,
                    "LengthGroupedSampler: batch_size is ", options.batch_size,
                    "; it must be at least 1");
  TORCH_CHECK_VALUE(options.pool_batches >= 1,
                    "LengthGroupedSampler: pool_batches is ",
                    options.pool_batches, "; it must be at least 1");
  lengths_ = lengths.cpu().contiguous();
}

at::Tensor LengthGroupedSampler::Order(int64_t epoch) const {
  const at::Generator generator =
      at::detail::createCPUGenerator(EpochKey(options_.seed, epoch));
  const int64_t batch = options_.batch_size;
  const int64_t batches = size() / batch;
  const at::Tensor order = at::randperm(size(), generator, at::kLong);
  if (batches == 0) return order;
  // The samples that fill no batch are random: short ones are not dropped more
  // often than long ones.
  const at::Tensor rest = order.slice(0, batches * batch);

  std::vector<at::Tensor> pools;
  for (int64_t first = 0; first < batches; first += options_.pool_batches) {
    const int64_t count = std::min(options_.pool_batches, batches - first);
    const at::Tensor pool = order.narrow(0, first * batch, count * batch);
    const at::Tensor by_length =
        lengths_.index_select(0, pool).argsort(/*stable=*/true, /*dim=*/0,
                                               /*descending=*/true);
    pools.push_back(pool.index_select(0, by_length).view({count, batch}));
  }
  at::Tensor rows = at::cat(pools).index_select(
      0, at::randperm(batches, generator, at::kLong));
  if (options_.longest_first) {
    const int64_t longest =
        lengths_.index_select(0, rows.view(-1)).argmax().item<int64_t>() /
        batch;
    rows = at::cat({rows.narrow(0, longest, 1), rows.narrow(0, 0, longest),
                    rows.slice(0, longest + 1)});
  }
  return at::cat({rows.view(-1), rest});
}

}  // namespace trainyard

#include "backends/processes/gather.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace trainyard {
namespace {

at::Tensor Rows(const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.defined(), "Gather: there is no tensor");
  return tensor.dim() == 0 ? tensor.detach().reshape({1}) : tensor.detach();
}

at::Tensor WithoutPadding(const at::Tensor& rows, double value) {
  const at::Tensor padding =
      at::scalar_tensor(value, rows.options()).to(rows.scalar_type());
  at::Tensor keep = rows.ne(padding);
  if (keep.dim() > 1) keep = keep.flatten(1).any(1);
  return rows.index({keep});
}

}  // namespace

at::Tensor Gather(Collectives& collectives, const at::Tensor& tensor,
                  const GatherOptions& options) {
  const at::Tensor all = at::cat(collectives.AllGather(Rows(tensor)));
  return options.padding_value ? WithoutPadding(all, *options.padding_value)
                               : all;
}

at::Tensor GatherToCpu(Collectives& collectives, const at::Tensor& tensor,
                       std::optional<int64_t> rows_at_once) {
  TORCH_CHECK_VALUE(rows_at_once.value_or(1) >= 1,
                    "GatherToCpu: rows_at_once is ", rows_at_once.value_or(1),
                    "; it must be at least 1");
  const at::Tensor rows = Rows(tensor);
  at::Tensor most = at::scalar_tensor(rows.size(0), at::kLong);
  collectives.AllReduce(most, ReduceOp::kMax);
  const int64_t count = most.item<int64_t>();
  const int64_t chunk = rows_at_once.value_or(std::max<int64_t>(count, 1));
  std::vector<std::vector<at::Tensor>> parts(collectives.num_processes());
  // At least once: an empty result needs its shape.
  for (int64_t begin = 0; begin == 0 || begin < count; begin += chunk) {
    const int64_t from = std::min(begin, rows.size(0));
    const int64_t rest = std::min(chunk, rows.size(0) - from);
    const std::vector<at::Tensor> gathered =
        collectives.AllGather(rows.narrow(0, from, rest));
    for (size_t rank = 0; rank < gathered.size(); ++rank) {
      parts[rank].push_back(gathered[rank].cpu());
    }
  }
  std::vector<at::Tensor> all;  // each rank's rows stay together
  for (const auto& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return at::cat(all);
}

}  // namespace trainyard

#include "backends/uneven_inputs.h"

#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <vector>

namespace trainyard {

EpochPlan PlanEpoch(Collectives& collectives, int64_t batches,
                    UnevenInputs policy) {
  TORCH_CHECK_VALUE(batches >= 0, "PlanEpoch: batches is ", batches);
  std::vector<int64_t> all;
  for (const at::Tensor& each :
       collectives.AllGather(at::tensor({batches}, at::kLong))) {
    all.push_back(each.item<int64_t>());
  }
  const auto [fewest, most] = std::minmax_element(all.begin(), all.end());
  TORCH_CHECK_VALUE(*most > 0, "PlanEpoch: no process has a batch");
  TORCH_CHECK_VALUE(policy == UnevenInputs::kJoin || *fewest > 0,
                    "PlanEpoch: rank ", fewest - all.begin(),
                    " has no batch at all; only kJoin allows that");
  return {.steps = policy == UnevenInputs::kDrop ? *fewest : *most,
          .batches = batches,
          .repeat = policy == UnevenInputs::kPad};
}

}  // namespace trainyard

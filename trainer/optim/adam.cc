#include "trainer/optim/adam.h"

#include <ATen/ops/_fused_adam.h>

namespace trainyard {

Adam::Adam(const ParamGroups& groups, const AdamOptions& options)
    : AdamBase("Adam", groups, options) {}

void Adam::Update(Lists& lists) {
  UpdateFused(lists,
              [](const auto&... arguments) { at::_fused_adam_(arguments...); });
}

}  // namespace trainyard

#include "trainer/loop/check_models.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <unordered_set>
#include <vector>

#include "trainer/model/model_tensors.h"
#include "trainer/task.h"

namespace trainyard {

void CheckModels(const std::vector<ModelTensors>& models,
                 const std::vector<NamedOptimizer>& optimizers) {
  constexpr char kWrite[] =
      "write AddModel(\"name\", model.ptr()) in the task's constructor";
  TORCH_CHECK_VALUE(!models.empty(),
                    "Train: the task has no model, so that no checkpoint "
                    "would have its weights; ",
                    kWrite);
  std::unordered_set<const void*> known;
  for (const ModelTensors& model : models) {
    for (const NamedTensor& item : model.parameters) {
      known.insert(item.tensor.unsafeGetTensorImpl());
    }
  }
  for (const NamedOptimizer& item : optimizers) {
    // An earlier run may have sharded the parameters.
    for (const auto& [name, slice] : item.optimizer->slices()) {
      if (known.contains(slice.whole.unsafeGetTensorImpl())) {
        known.insert(slice.slice.unsafeGetTensorImpl());
      }
    }
    for (const auto& group : item.optimizer->param_groups()) {
      for (const at::Tensor& parameter : group.params()) {
        TORCH_CHECK_VALUE(
            known.contains(parameter.unsafeGetTensorImpl()),
            "Train: the optimizer \"", item.name,
            "\" trains a parameter of shape ", parameter.sizes(),
            " that is in no model of the task, so that no checkpoint would "
            "have it; ",
            kWrite);
      }
    }
  }
}

}  // namespace trainyard

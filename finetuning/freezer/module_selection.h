// ModuleSelection finds modules and parameters of a ModuleTree by index and by
// name, in the way of ModelFreezer: see there for what groups, layers and
// patterns are.
//
//   const ModuleSelection selection(*tree, /*leave_batch_norms=*/true);
//   selection.ParametersOf(selection.InGroups(0, -2));
//
// Thread-compatible. Borrows the tree.
#ifndef TRAINYARD_FINETUNING_FREEZER_MODULE_SELECTION_H_
#define TRAINYARD_FINETUNING_FREEZER_MODULE_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "finetuning/freezer/module_tree.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

class ModuleSelection {
 public:
  // One mark per node of the tree.
  using Marks = std::vector<bool>;

  ModuleSelection(const ModuleTree& tree, bool leave_batch_norms);

  // The nodes of groups, and the group of a node: -1 for the model itself.
  const std::vector<size_t>& groups() const { return groups_; }
  int64_t group_of(size_t node) const { return group_of_[node]; }

  // Whether it is a batch norm, and those are left out.
  bool LeavesAlone(size_t node) const;

  // Inclusive, from the end if negative, in either order. Throw
  // c10::IndexError.
  Marks InGroups(int64_t from, int64_t to) const;
  Marks InLayers(int64_t from, int64_t to) const;
  // Modules that the pattern names, with all in them. May be none.
  Marks InMatching(const std::string& pattern) const;

  // Those that can be trained, but for what is left alone.
  std::vector<NamedTensor> ParametersOf(const Marks& nodes) const;
  // Those of modules that the pattern names, and those that it names itself.
  // Throws c10::ValueError, with near names, if there are none.
  std::vector<NamedTensor> ParametersMatching(const std::string& pattern) const;

  // Counters and the like cannot be trained.
  static bool CanTrain(const at::Tensor& tensor) {
    return tensor.is_floating_point() || tensor.is_complex();
  }

 private:
  const ModuleTree& tree_;
  bool leave_batch_norms_;
  std::vector<size_t> groups_;
  std::vector<int64_t> group_of_;
};

}  // namespace trainyard

#endif  // TRAINYARD_FINETUNING_FREEZER_MODULE_SELECTION_H_

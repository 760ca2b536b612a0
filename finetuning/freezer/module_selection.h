// ModuleSelection finds modules and parameters of a ModuleTree by index and by
// name. Groups, layers, ranges and patterns are those of ModelFreezer.
//
//   const ModuleSelection selection(*tree, /*leave_batch_norms=*/true);
//   const std::vector<NamedTensor> parameters =
//       selection.ParametersOf(selection.InGroups(0, -2));
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

  // The node of each group, and the group of each node (-1 for the model
  // itself).
  const std::vector<size_t>& groups() const { return groups_; }
  int64_t group_of(size_t node) const { return group_of_[node]; }

  // Whether the node is a batch norm and batch norms are excluded.
  bool LeavesAlone(size_t node) const;

  // The nodes of a range of groups or layers. Throw c10::IndexError if an index
  // is out of range.
  Marks InGroups(int64_t from, int64_t to) const;
  Marks InLayers(int64_t from, int64_t to) const;
  // The modules that match the pattern, with all modules inside them. May be
  // empty.
  Marks InMatching(const std::string& pattern) const;

  // The trainable parameters of these nodes, without excluded batch norms.
  std::vector<NamedTensor> ParametersOf(const Marks& nodes) const;
  // The parameters of matching modules, and the parameters that match
  // themselves. Throws c10::ValueError, with the nearest names, if there are
  // none.
  std::vector<NamedTensor> ParametersMatching(const std::string& pattern) const;

  // Integer tensors, such as counters, cannot be trained.
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

// Reads the tensors of a .pt file of PyTorch (torch.save) without Python, and
// without running anything of the file.
//
//   absl::StatusOr<PtFile> file = ReadPtFile("weights.pt");
//   absl::StatusOr<PtFile> state =
//       ReadPtFile("checkpoint.pt", {.key = "optimizer"});
//   for (const NamedTensor& item : state->tensors) {
//     …  // "state.0.exp_avg", …
//   }
//
// Reads what torch.load(path, weights_only=True) reads if it consists of
// dictionaries, lists, tuples, numbers, texts and dense tensors. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PT_PT_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PT_PT_FILE_H_

#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/pt/pt_layout.h"
#include "trainer/model/named_tensor.h"

namespace trainyard {

struct PtFile {
  // On the CPU, in name order, with the strides that they had. Tensors that
  // shared memory in Python share memory here.
  std::vector<NamedTensor> tensors;
  // Every other value by its name, as text: {"param_groups.0.lr", "0.001"}.
  std::map<std::string, std::string> values;
  // The key that was used; empty: none.
  std::string key;
};

// Returns the errors of ReadPtLayout, DataLoss for bytes with a wrong checksum,
// and ResourceExhausted if a tensor does not fit into memory.
absl::StatusOr<PtFile> ReadPtFile(const std::string& path,
                                  const PtOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PT_PT_FILE_H_

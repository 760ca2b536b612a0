// Reads what a .pt file of PyTorch (torch.save) contains, without its tensors'
// bytes: the names, types, shapes and places of the tensors, and the other
// values as text. Runs nothing of the file. Free of libtorch.
//
//   absl::StatusOr<PtLayout> layout = ReadPtLayout(file, {.key = "model"});
//   for (const PtTensor& tensor : layout->tensors) {
//     const ZipEntry& bytes = layout->storages.at(tensor.storage);
//     …
//   }
//
// A name is the path of keys from the top of the file, joined by points: the
// file of {"model": {"w": tensor}} has model.w, and items of lists are named by
// their numbers. Errors name the file. Thread-safe.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PT_PT_LAYOUT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PT_PT_LAYOUT_H_

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/pt/pt_tensor.h"
#include "trainer/io/input_file.h"
#include "trainer/io/zip_directory.h"

namespace trainyard {

struct PtOptions {
  // Reads only what is under this key, e.g. "model" or "optimizer.state", and
  // removes the key from names. Empty: reads everything. Unset: everything, or,
  // if the file has no tensor at the top and one of the keys "state_dict",
  // "model_state_dict" and "model", what is under this key.
  std::optional<std::string> key = std::nullopt;
  // Whether damage is detected by the checksums of the file. Files that were
  // written after torch.serialization.set_crc32_options(False) have none.
  bool check_crc32 = true;
};

struct PtLayout {
  // In name order.
  std::vector<PtTensor> tensors;
  // Where the bytes of each storage are, by its name. Several tensors may share
  // a storage.
  std::map<std::string, ZipEntry> storages;
  // Every number, text, bool and None by its name, as text.
  std::map<std::string, std::string> values;
  // The key that was used; empty: none.
  std::string key;
};

// Returns DataLoss for a file that is damaged or in another format, NotFound if
// nothing is under the key, and Unimplemented if the file has something that is
// neither tensor nor number, text, list or dictionary, or was written by
// PyTorch before 1.6 or by torch.jit.save.
absl::StatusOr<PtLayout> ReadPtLayout(const InputFile& file,
                                      const PtOptions& options = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PT_PT_LAYOUT_H_

// GoldenDifferences says how far an exported model in C++ is from what Python
// computed with the same module (tools/golden/exported_models.py writes it).
//
//   const GoldenDifferences differences = CompareWithGolden(
//       path + ".safetensors", path + "_golden.safetensors",
//       ::testing::TempDir() + "/" + GetParam());
//   EXPECT_LT(differences.gradients, 1e-5);
//
// A difference is the largest of all elements, relative to the largest element
// of its tensor in Python. Thread-compatible.
#ifndef TRAINYARD_TRAINER_EXPORTED_GOLDEN_DIFFERENCES_H_
#define TRAINYARD_TRAINER_EXPORTED_GOLDEN_DIFFERENCES_H_

#include <cstddef>
#include <string>

namespace trainyard {

struct GoldenDifferences {
  // Of the outputs, in evaluation and in training mode.
  double eval = 0;
  double train = 0;
  // Of every parameter's gradient after the first pass, and of every buffer.
  double gradients = 0;
  double buffers = 0;
  // Of every parameter and buffer after 20 updates.
  double updates = 0;
  size_t num_gradients = 0;
  size_t num_buffers = 0;
};

// Trains the model for 20 updates. Leaves its weights and its outputs beside
// `left`, as "<left>_state.safetensors" and "<left>_outputs.safetensors", if
// that is not empty. Throws c10::ValueError if the files do not fit each other:
// another number of tensors, gradients where Python has none.
GoldenDifferences CompareWithGolden(const std::string& model_path,
                                    const std::string& golden_path,
                                    const std::string& left = "");

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_GOLDEN_DIFFERENCES_H_

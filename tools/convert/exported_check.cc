// Compares an exported model in C++ with what Python computed, for
// tools/golden/exported_table.py: prints one line of differences.
#include <ATen/Parallel.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>

#include <string>

#include "tools/cli/parse_flags.h"
#include "trainer/exported/golden_differences.h"
#include "trainer/main.h"

ABSL_FLAG(std::string, model, "", "The model file of export_model.py.");
ABSL_FLAG(std::string, golden, "",
          "What Python computed, as tools/golden/exported_table.py writes it.");
ABSL_FLAG(std::string, left, "",
          "Where the trained weights and their outputs are left: the beginning "
          "of two file names. Empty: nowhere.");

namespace trainyard {
namespace {

int Run() {
  at::set_num_threads(1);
  const GoldenDifferences differences =
      CompareWithGolden(absl::GetFlag(FLAGS_model), absl::GetFlag(FLAGS_golden),
                        absl::GetFlag(FLAGS_left));
  absl::PrintF("%.3g %.3g %.3g %.3g %.3g %d %d\n", differences.eval,
               differences.train, differences.gradients, differences.buffers,
               differences.updates, differences.num_gradients,
               differences.num_buffers);
  return 0;
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "compares an exported model with what Python computed");
  return trainyard::Main(trainyard::Run);
}

// RunReport prints the summary of an example's run, and writes it as JSON.
//
//   const RunReport report({.run_dir = run_dir});
//   …
//   report.Finish(trainer, optimizer, result);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_EXAMPLES_RUN_REPORT_H_
#define TRAINYARD_TOOLS_EXAMPLES_RUN_REPORT_H_

#include <string>

#include "trainer/optim/optimizer.h"
#include "trainer/trainer.h"

namespace trainyard {

struct RunReportOptions {
  // Folder for summary.json. Empty: not written.
  std::string run_dir;
  // Another file for the same content. Empty: not written.
  std::string summary_json;
};

class RunReport {
 public:
  // Creates the folder. Throws std::runtime_error if the folder or the files
  // cannot be written, so that the error comes before the run, not after it.
  explicit RunReport(RunReportOptions options);

  // Prints the summary and writes the files.
  void Finish(const Trainer& trainer, const Optimizer& optimizer,
              const RunResult& result) const;

 private:
  RunReportOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_RUN_REPORT_H_

// What the examples leave behind: a summary on standard output, and as JSON
// where asked.
#ifndef TRAINYARD_TOOLS_EXAMPLES_RUN_REPORT_H_
#define TRAINYARD_TOOLS_EXAMPLES_RUN_REPORT_H_

#include <string>

#include "trainer/optim/optimizer.h"
#include "trainer/trainer.h"

namespace trainyard {

struct RunReportOptions {
  // Folder that gets a summary.json. Empty: none.
  std::string run_dir;
  // One more file with the same content. Empty: none.
  std::string summary_json;
};

class RunReport {
 public:
  // Makes the folder. Throws if that, or a file in it, is not possible: before
  // the run rather than after it.
  explicit RunReport(RunReportOptions options);

  // Prints the summary and writes the files.
  void Finish(const Trainer& trainer, const Optimizer& optimizer,
              const RunResult& result) const;

 private:
  RunReportOptions options_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_RUN_REPORT_H_

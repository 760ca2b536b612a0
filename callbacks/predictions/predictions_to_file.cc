#include "callbacks/predictions/predictions_to_file.h"

#include <ATen/ops/argmax.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/io/atomic_file.h"
#include "trainer/task.h"

namespace trainyard {
namespace {

// Rows that are made into text at a time.
constexpr int64_t kChunk = 8192;

[[noreturn]] void Refuse(const std::string& problem) {
  throw std::invalid_argument("PredictionsToFile: " + problem);
}

std::string Header(const std::vector<std::string>& names, int64_t columns) {
  std::string header = "index";
  for (int64_t i = 0; i < columns; ++i) {
    if (!names.empty()) {
      header += "," + names[static_cast<size_t>(i)];
    } else {
      header +=
          columns == 1 ? ",prediction" : ",prediction_" + std::to_string(i);
    }
  }
  return header + "\n";
}

absl::Status WriteCsv(const std::string& path, const std::string& header,
                      const PredictionRows& rows) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.status();
  absl::Status status = file->Append(header.data(), header.size());
  for (int64_t row = 0; status.ok() && row < rows.size(); row += kChunk) {
    std::string csv;
    rows.AppendCsv(row, std::min(row + kChunk, rows.size()), csv);
    status = file->Append(csv.data(), csv.size());
  }
  return status.ok() ? file->Commit() : status;
}

}  // namespace

at::Tensor MostLikelyClass(const at::Tensor& outputs) {
  return at::argmax(outputs, /*dim=*/1);
}

PredictionsToFile::PredictionsToFile(PredictionsToFileOptions options)
    : options_(std::move(options)) {
  if (options_.path.empty()) Refuse("path is empty");
  if (options_.set.empty()) Refuse("set is empty");
}

void PredictionsToFile::OnEvalStart(const EvalStart& e, Control&) {
  collecting_ = e.name == options_.set;
  backend_ = &e.backend;
  rows_ = {};
}

void PredictionsToFile::OnEvalStepEnd(const EvalStepEnd& e, Control&) {
  if (!collecting_) return;
  if (!e.output.outputs.defined()) {
    Refuse("the task's EvalStep gives no outputs; set StepOutput::outputs");
  }
  const at::Tensor rows = options_.prediction
                              ? options_.prediction(e.output.outputs)
                              : e.output.outputs;
  const int64_t count = rows.dim() == 0 ? 0 : rows.size(0);
  if (count != e.batch.size()) {
    Refuse("a batch of " + std::to_string(e.batch.size()) + " records has " +
           std::to_string(count) + " predictions");
  }
  rows_.Add(rows);
}

void PredictionsToFile::OnEvalEnd(const EvalEnd&, Control&) {
  if (!std::exchange(collecting_, false)) return;
  const PredictionRows mine = std::exchange(rows_, {});
  Write(backend_->num_processes() == 1 ? mine : mine.OfAll(*backend_));
}

void PredictionsToFile::Write(const PredictionRows& all) const {
  const auto names = static_cast<int64_t>(options_.columns.size());
  if (names != 0 && names != all.columns()) {
    Refuse("columns has " + std::to_string(names) +
           " names, and predictions have " + std::to_string(all.columns()) +
           " columns");
  }
  absl::Status status;
  if (backend_->rank() == 0) {
    status =
        WriteCsv(options_.path, Header(options_.columns, all.columns()), all);
  }
  if (!backend_->collectives().Any(!status.ok())) return;
  throw std::runtime_error("PredictionsToFile: " +
                           (status.ok()
                                ? "rank 0 could not write " + options_.path
                                : std::string(status.message())));
}

}  // namespace trainyard

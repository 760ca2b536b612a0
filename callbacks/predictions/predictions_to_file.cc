#include "callbacks/predictions/predictions_to_file.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <charconv>
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

// As many digits as the type of the tensor needs to read back equal.
void AppendNumber(std::string& csv, double value, at::ScalarType type) {
  std::array<char, 32> text;
  char* const begin = text.data();
  char* const end = begin + text.size();
  char* const last =
      !at::isFloatingType(type)
          ? std::to_chars(begin, end, static_cast<int64_t>(value)).ptr
      : type == at::kDouble
          ? std::to_chars(begin, end, value).ptr
          : std::to_chars(begin, end, static_cast<float>(value)).ptr;
  csv.append(begin, last);
}

// A line for each row of `rows`, of shape [rows, columns]; the first has the
// index `first`.
std::string CsvLines(const at::Tensor& rows, int64_t first) {
  const at::Tensor numbers = rows.to(at::kDouble).contiguous();
  const double* next = numbers.const_data_ptr<double>();
  std::string csv;
  for (int64_t row = 0; row < rows.size(0); ++row) {
    csv += std::to_string(first + row);
    for (int64_t column = 0; column < rows.size(1); ++column) {
      csv += ',';
      AppendNumber(csv, *next++, rows.scalar_type());
    }
    csv += '\n';
  }
  return csv;
}

absl::Status WriteCsv(const std::string& path, const std::string& header,
                      const at::Tensor& rows) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.status();
  absl::Status status = file->Append(header.data(), header.size());
  for (int64_t row = 0; status.ok() && row < rows.size(0); row += kChunk) {
    const int64_t count = std::min(kChunk, rows.size(0) - row);
    const std::string csv = CsvLines(rows.narrow(0, row, count), row);
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
  rows_.Reset();
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
  rows_.Collect(rows);
}

void PredictionsToFile::OnEvalEnd(const EvalEnd&, Control&) {
  if (!std::exchange(collecting_, false)) return;
  const std::vector<at::Tensor> all = rows_.AllOf(backend_->collectives());
  rows_.Reset();
  if (all.empty()) return Write(at::empty({0, 0}));
  Write(all[0].dim() == 1 ? all[0].unsqueeze(1) : all[0].flatten(1));
}

void PredictionsToFile::Write(const at::Tensor& rows) const {
  const auto names = static_cast<int64_t>(options_.columns.size());
  const int64_t columns = rows.size(1);
  if (names != 0 && names != columns) {
    Refuse("columns has " + std::to_string(names) +
           " names, and predictions have " + std::to_string(columns) +
           " columns");
  }
  absl::Status status;
  if (backend_->rank() == 0) {
    status = WriteCsv(options_.path, Header(options_.columns, columns), rows);
  }
  if (!backend_->collectives().Any(!status.ok())) return;
  throw std::runtime_error("PredictionsToFile: " +
                           (status.ok()
                                ? "rank 0 could not write " + options_.path
                                : std::string(status.message())));
}

}  // namespace trainyard

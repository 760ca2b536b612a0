#include "callbacks/printing/epoch_table.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "callbacks/printing/prints_here.h"
#include "callbacks/printing/readable.h"

namespace trainyard {
namespace {

// Room for "1.234e-05", the widest value but for its sign.
constexpr size_t kMinWidth = 9;

// Training, evaluation, others; of one prefix the loss first.
bool StandsBefore(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    const std::string prefix = name.substr(0, name.find('_'));
    const int group = prefix == "train" ? 0 : prefix == "eval" ? 1 : 2;
    return std::make_tuple(group, prefix, !name.ends_with("_loss"), name);
  };
  return key(a) < key(b);
}

std::string RightAligned(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text
                             : text;
}

size_t WidthOf(const std::string& column) {
  return std::max(column.size(), kMinWidth);
}

std::string SecondsText(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f", seconds);
  return text.data();
}

}  // namespace

EpochTable::EpochTable(EpochTableOptions options)
    : options_(std::move(options)) {
  if (options_.output == nullptr) {
    throw std::invalid_argument("EpochTable: output is null");
  }
  if (options_.clock == nullptr) {
    throw std::invalid_argument("EpochTable: clock is empty");
  }
}

void EpochTable::OnRunStart(const RunStart& e, Control&) {
  prints_ = PrintsHere(e.backend, options_.every_rank);
  config_ = e.config;
  columns_.clear();
  header_printed_ = false;
  news_.Reset();
}

void EpochTable::OnEpochStart(const EpochStart& e, Control&) {
  start_ = options_.clock();
  start_samples_ = e.clock.samples();
  eval_seconds_ = 0;
}

void EpochTable::OnTrainEpochEnd(const TrainEpochEnd& e, Control&) {
  const double seconds = options_.clock() - start_ - eval_seconds_;
  const auto samples = static_cast<double>(e.clock.samples() - start_samples_);
  samples_per_second_ = seconds > 0 ? samples / seconds : 0;
}

void EpochTable::OnEvalStart(const EvalStart&, Control&) {
  eval_start_ = options_.clock();
}

void EpochTable::OnEvalEnd(const EvalEnd&, Control&) {
  eval_seconds_ += options_.clock() - eval_start_;
}

void EpochTable::OnEpochEnd(const EpochEnd& e, Control&) {
  const Metrics values = news_.Take(e.history);
  Widen(values);
  PrintRow(config_.EpochLabel(e.clock.epoch()), values,
           ReadableCount(samples_per_second_),
           SecondsText(options_.clock() - start_));
}

void EpochTable::OnRunEnd(const RunEnd& e, Control&) {
  const Metrics values = news_.Take(e.history);
  if (values.empty()) return;
  Widen(values);
  PrintRow("end", values, "-", "-");
}

void EpochTable::Widen(const Metrics& values) {
  const size_t known = columns_.size();
  for (const auto& [name, value] : values) {
    if (std::find(columns_.begin(), columns_.end(), name) == columns_.end()) {
      columns_.push_back(name);
    }
  }
  if (columns_.size() == known && header_printed_) return;
  std::sort(columns_.begin(), columns_.end(), StandsBefore);
  PrintHeader();
}

void EpochTable::PrintRow(const std::string& epoch, const Metrics& values,
                          const std::string& rate, const std::string& seconds) {
  if (!prints_) return;
  std::string row = RightAligned(epoch, 5);
  for (const std::string& column : columns_) {
    const auto value = values.find(column);
    row +=
        "  " +
        RightAligned(value == values.end() ? "-" : ReadableValue(value->second),
                     WidthOf(column));
  }
  row += "  " + RightAligned(rate, kMinWidth);
  row += "  " + RightAligned(seconds, 7);
  std::fprintf(options_.output, "%s\n", row.c_str());
  std::fflush(options_.output);
}

void EpochTable::PrintHeader() {
  header_printed_ = true;
  if (!prints_) return;
  std::string header = "epoch";
  for (const std::string& column : columns_) {
    header += "  " + RightAligned(column, WidthOf(column));
  }
  std::fprintf(options_.output, "%s  samples/s  seconds\n", header.c_str());
}

}  // namespace trainyard

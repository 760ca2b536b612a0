#include "finetuning/freezer/trainable_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace trainyard {
namespace {

constexpr size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

constexpr std::array<bool, kColumns> kRightAligned = {false, false, false,
                                                      true,  true,  false};

// 1234567 is "1,234,567".
std::string Grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string grouped;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string Percent(int64_t part, int64_t whole) {
  const double share =
      whole == 0 ? 0 : 100.0 * static_cast<double>(part) / whole;
  std::array<char, 16> text = {};
  std::snprintf(text.data(), text.size(), "%.1f %%", share);
  return text.data();
}

std::string Lined(const std::vector<Row>& rows) {
  std::array<size_t, kColumns> width = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) {
      width[i] = std::max(width[i], row[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < kColumns; ++i) {
      const std::string space(width[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      line += kRightAligned[i] ? space + row[i] : row[i] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string TrainableTable(const ModelFreezer& freezer) {
  std::vector<Row> rows = {
      {"group", "layer", "type", "parameters", "trainable", "mode"}};
  int64_t parameters = 0, trainable = 0;
  for (const ModelFreezer::Layer& layer : freezer.Layers()) {
    parameters += layer.parameters;
    trainable += layer.trainable;
    rows.push_back({layer.group < 0 ? "-" : std::to_string(layer.group),
                    layer.name.empty() ? "(model)" : layer.name, layer.type,
                    Grouped(layer.parameters), Grouped(layer.trainable),
                    layer.training ? "train" : "eval"});
  }
  rows.push_back({"total", "", "", Grouped(parameters), Grouped(trainable),
                  Percent(trainable, parameters)});
  return Lined(rows);
}

}  // namespace trainyard

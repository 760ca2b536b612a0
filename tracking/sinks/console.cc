#include "tracking/sinks/console.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace trainyard {
namespace {

constexpr int kStepWidth = 10;
constexpr int kLeastWidth = 10;

class Console final : public Sink {
 public:
  explicit Console(ConsoleOptions options) : options_(options) {
    if (options_.output == nullptr) {
      throw std::invalid_argument("Console: output is null");
    }
    if (options_.every < 1) {
      throw std::invalid_argument("Console: every is " +
                                  std::to_string(options_.every));
    }
  }

  std::string name() const override { return "console"; }

  void Open(int64_t) override { names_.clear(); }

  void Write(const tracking::Record& record) override {
    const tracking::Row* row = std::get_if<tracking::Row>(&record.what);
    if (row == nullptr || row->empty()) return;
    const bool same =
        std::equal(row->begin(), row->end(), names_.begin(), names_.end(),
                   [](const auto& value, const auto& name) {
                     return value.first == name;
                   });
    if (!same) PrintNames(*row);
    if (count_++ % options_.every != 0) return;
    std::fprintf(options_.output, "%*lld", kStepWidth,
                 static_cast<long long>(record.step));
    for (const auto& [name, value] : *row) {
      std::fprintf(options_.output, "  %*.4g", Width(name), value);
    }
    std::fputc('\n', options_.output);
  }

  void Flush() override { std::fflush(options_.output); }

 private:
  static int Width(const std::string& name) {
    return std::max(kLeastWidth, static_cast<int>(name.size()));
  }

  void PrintNames(const tracking::Row& row) {
    names_.clear();
    count_ = 0;
    std::fprintf(options_.output, "%*s", kStepWidth, "step");
    for (const auto& [name, value] : row) {
      names_.push_back(name);
      std::fprintf(options_.output, "  %*s", Width(name), name.c_str());
    }
    std::fputc('\n', options_.output);
  }

  const ConsoleOptions options_;
  std::vector<std::string> names_;
  int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Sink> MakeConsole(ConsoleOptions options) {
  return std::make_unique<Console>(options);
}

}  // namespace trainyard

#include "tracking/sinks/jsonl.h"

#include <cmath>
#include <memory>
#include <string>
#include <variant>

#include "tracking/sinks/append_file.h"
#include "tracking/sinks/number_text.h"
#include "trainer/checkpoint/json_string.h"

namespace trainyard {
namespace {

class JsonLines final : public Sink {
 public:
  explicit JsonLines(const std::string& path) : path_(path) {}

  std::string name() const override { return "jsonl"; }
  void Open(int64_t position) override { file_.Open(path_, position); }

  void Write(const tracking::Record& record) override {
    const tracking::Row* row = std::get_if<tracking::Row>(&record.what);
    if (row == nullptr) return;
    line_ = "{\"step\":" + std::to_string(record.step) + ",\"time\":";
    AppendTime(line_, record.time);
    for (const auto& [name, value] : *row) {
      line_ += ',';
      line_ += JsonQuoted(name);
      line_ += ':';
      if (std::isfinite(value)) {
        AppendNumber(line_, value);
      } else {
        line_ += "null";
      }
    }
    line_ += "}\n";
    file_.Append(line_);
  }

  void Flush() override { file_.Flush(); }
  int64_t position() override { return file_.Sync(); }

 private:
  const std::string path_;
  AppendFile file_;
  std::string line_;
};

}  // namespace

std::unique_ptr<Sink> MakeJsonLines(const std::string& path) {
  return std::make_unique<JsonLines>(path);
}

}  // namespace trainyard

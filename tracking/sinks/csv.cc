#include "tracking/sinks/csv.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "tracking/sinks/append_file.h"
#include "tracking/sinks/number_text.h"

namespace trainyard {
namespace {

constexpr char kHeader[] = "step,time,name,value\n";

void AppendField(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

class Csv final : public Sink {
 public:
  explicit Csv(const std::string& path) : path_(path) {}

  std::string name() const override { return "csv"; }

  void Open(int64_t position) override {
    file_.Open(path_, position);
    if (position == 0) file_.Append(kHeader);
  }

  void Write(const tracking::Record& record) override {
    const tracking::Row* row = std::get_if<tracking::Row>(&record.what);
    if (row == nullptr) return;
    start_ = std::to_string(record.step) + ",";
    AppendTime(start_, record.time);
    lines_.clear();
    for (const auto& [name, value] : *row) {
      lines_ += start_;
      lines_ += ',';
      AppendField(lines_, name);
      lines_ += ',';
      AppendNumber(lines_, value);
      lines_ += '\n';
    }
    file_.Append(lines_);
  }

  void Flush() override { file_.Flush(); }
  int64_t position() override { return file_.Sync(); }

 private:
  const std::string path_;
  AppendFile file_;
  std::string start_;
  std::string lines_;
};

}  // namespace

std::unique_ptr<Sink> MakeCsv(const std::string& path) {
  return std::make_unique<Csv>(path);
}

}  // namespace trainyard

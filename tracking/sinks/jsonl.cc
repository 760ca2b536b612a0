#include "tracking/sinks/jsonl.h"

#include <memory>
#include <string>
#include <variant>

#include "tracking/sinks/append_file.h"
#include "tracking/sinks/number_text.h"
#include "trainer/io/json_writer.h"

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
    line_.Clear();
    line_.BeginObject();
    line_.Key("step").Int(record.step);
    time_.clear();
    AppendTime(time_, record.time);
    line_.Key("time").Raw(time_);
    for (const auto& [name, value] : *row) line_.Key(name).Number(value);
    line_.EndObject();
    file_.Append(line_.text() + "\n");
  }

  void Flush() override { file_.Flush(); }
  int64_t position() override { return file_.Sync(); }

 private:
  const std::string path_;
  AppendFile file_;
  JsonWriter line_;
  std::string time_;
};

}  // namespace

std::unique_ptr<Sink> MakeJsonLines(const std::string& path) {
  return std::make_unique<JsonLines>(path);
}

}  // namespace trainyard

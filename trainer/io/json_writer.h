// JsonWriter builds the text of one JSON value. Free of libtorch.
//
//   JsonWriter json(JsonWriter::Layout::kLines);
//   json.BeginObject();
//   json.Key("loss").Number(0.5);
//   json.Key("names").BeginArray();
//   json.String("say \"ä\"");
//   json.EndArray();
//   json.EndObject();
//   const std::string text = json.text();
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_IO_JSON_WRITER_H_
#define TRAINYARD_TRAINER_IO_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

class JsonWriter {
 public:
  // kCompact: no white space. kLines: a line per item, indented by two spaces
  // per level.
  enum class Layout { kCompact, kLines };

  explicit JsonWriter(Layout layout = Layout::kCompact) : layout_(layout) {}

  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }

  // Of the value that follows. REQUIRES: within an object.
  JsonWriter& Key(std::string_view name);

  // What is not UTF-8 cannot stand in JSON: "(not UTF-8)" stands for it.
  void String(std::string_view text);
  void Int(int64_t value);
  // The shortest text that reads back as the same double. A number that is not
  // finite is null: JSON has no text for it.
  void Number(double value);
  void Bool(bool value) { Raw(value ? "true" : "false"); }
  void Null() { Raw("null"); }
  // Any value, as JSON already.
  void Raw(std::string_view json);

  // What was written so far.
  const std::string& text() const { return text_; }
  // Starts again, with the memory of before.
  void Clear();

 private:
  void Begin(char open);
  void End(char close);
  // The comma and the white space before an item.
  void Separate();
  void NewLine();

  const Layout layout_;
  std::string text_;
  // Whether each open object or array has an item already.
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_JSON_WRITER_H_

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
  // kCompact: no white space. kLines: one line per item, indented by two spaces
  // per level.
  enum class Layout { kCompact, kLines };

  explicit JsonWriter(Layout layout = Layout::kCompact) : layout_(layout) {}

  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }

  // Writes the key of the next value. REQUIRES: within an object.
  JsonWriter& Key(std::string_view name);

  // Writes "(not UTF-8)" for a text that is not UTF-8: JSON cannot hold it.
  void String(std::string_view text);
  void Int(int64_t value);
  // Writes the shortest text that parses to the same double, or null for NaN
  // and infinities: JSON cannot hold them.
  void Number(double value);
  void Bool(bool value) { Raw(value ? "true" : "false"); }
  void Null() { Raw("null"); }
  // Writes text that is JSON already.
  void Raw(std::string_view json);

  // The text so far.
  const std::string& text() const { return text_; }
  // Starts a new value and keeps the memory.
  void Clear();

 private:
  void Begin(char open);
  void End(char close);
  // The comma and the white space before an item.
  void Separate();
  void NewLine();

  const Layout layout_;
  std::string text_;
  // Whether each open object or array has items.
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_JSON_WRITER_H_

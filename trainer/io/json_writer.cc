#include "trainer/io/json_writer.h"

#include <charconv>
#include <cmath>

#include "trainer/io/json_string.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

std::string Quoted(std::string_view text) {
  return JsonQuoted(ValidUtf8Prefix(text) == text.size() ? text
                                                         : "(not UTF-8)");
}

}  // namespace

void JsonWriter::NewLine() {
  if (layout_ == Layout::kCompact) return;
  text_ += '\n';
  text_.append(2 * has_items_.size(), ' ');
}

void JsonWriter::Separate() {
  if (after_key_ || has_items_.empty()) {
    after_key_ = false;
    return;
  }
  if (has_items_.back()) text_ += ',';
  has_items_.back() = true;
  NewLine();
}

void JsonWriter::Begin(char open) {
  Separate();
  text_ += open;
  has_items_.push_back(false);
}

void JsonWriter::End(char close) {
  const bool has_items = has_items_.back();
  has_items_.pop_back();
  if (has_items) NewLine();
  text_ += close;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  text_ += Quoted(name);
  text_ += layout_ == Layout::kCompact ? ":" : ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::String(std::string_view text) { Raw(Quoted(text)); }

void JsonWriter::Int(int64_t value) { Raw(std::to_string(value)); }

void JsonWriter::Number(double value) {
  if (!std::isfinite(value)) return Null();
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  Raw(std::string_view(digits, static_cast<size_t>(end - digits)));
}

void JsonWriter::Raw(std::string_view json) {
  Separate();
  text_ += json;
}

void JsonWriter::Clear() {
  text_.clear();
  has_items_.clear();
  after_key_ = false;
}

}  // namespace trainyard

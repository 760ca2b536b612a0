#include "trainer/io/json_reader.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>
#include <system_error>

#include "trainer/io/json_string.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

}  // namespace

JsonReader::JsonReader(std::string_view text) : text_(text) {
  const size_t valid = ValidUtf8Prefix(text);
  if (valid != text.size()) FailAt(valid, "not UTF-8");
}

bool JsonReader::FailAt(size_t at, std::string_view what) {
  if (ok()) {
    status_ =
        absl::DataLossError(absl::StrCat("byte ", at, ": ", ToAbsl(what)));
  }
  return false;
}

void JsonReader::SkipSpace() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

char JsonReader::Peek() {
  SkipSpace();
  return ok() && at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonReader::Take(char wanted, std::string_view what) {
  if (!ok()) return false;
  SkipSpace();
  last_ = at_;
  if (at_ == text_.size() || text_[at_] != wanted) return FailAt(at_, what);
  ++at_;
  return true;
}

bool JsonReader::TakeWord(std::string_view word) {
  SkipSpace();
  if (!ok() || text_.substr(at_, word.size()) != word) return false;
  last_ = at_;
  at_ += word.size();
  return true;
}

bool JsonReader::Begin(char open, std::string_view what) {
  if (!Take(open, what)) return false;
  if (open_.size() == kMaxDepth) return Fail("nested too deeply");
  open_ += open;
  is_first_ = true;
  return true;
}

bool JsonReader::BeginObject() { return Begin('{', "expected an object"); }

bool JsonReader::BeginArray() { return Begin('[', "expected an array"); }

// Returns true if another key or item follows.
bool JsonReader::Next(char close) {
  if (Peek() == close && !open_.empty()) {
    ++at_;
    open_.pop_back();
    is_first_ = false;
    return false;
  }
  if (!is_first_ && !Take(',', "expected a ',' or the end")) return false;
  is_first_ = false;
  return ok();
}

bool JsonReader::NextKey(std::string& key) {
  if (!Next('}')) return false;
  if (!TakeString(key, "expected a key in quotes")) return false;
  const size_t key_at = last_;
  if (!Take(':', "expected a ':' after the key")) return false;
  last_ = key_at;
  return true;
}

bool JsonReader::NextItem() { return Next(']'); }

bool JsonReader::TakeString(std::string& value, std::string_view what) {
  if (!Take('"', what)) return false;
  const std::string_view error = TakeJsonString(text_, at_, value);
  return error.empty() || FailAt(at_, error);
}

bool JsonReader::ReadString(std::string& value) {
  return TakeString(value, "expected a string");
}

size_t JsonReader::TakeDigits() {
  const size_t begin = at_;
  while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
  return at_ - begin;
}

bool JsonReader::TakeNumber(std::string_view& token) {
  if (!ok()) return false;
  SkipSpace();
  last_ = at_;
  const auto take = [this](std::string_view any_of) {
    const bool found =
        at_ < text_.size() && any_of.find(text_[at_]) != std::string_view::npos;
    if (found) ++at_;
    return found;
  };
  take("-");
  // A leading zero is the whole integer part.
  if (!take("0") && TakeDigits() == 0) return Fail("expected a number");
  if (take(".") && TakeDigits() == 0) return Fail("a number ends in '.'");
  if (take("eE")) {
    take("+-");
    if (TakeDigits() == 0) return Fail("a number without its exponent");
  }
  token = text_.substr(last_, at_ - last_);
  return true;
}

template <class Whole>
bool JsonReader::ReadWhole(Whole& value, std::string_view expected) {
  std::string_view token;
  if (!TakeNumber(token)) return false;
  const char* const end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, value);
  if (stop != end) return Fail(expected);
  if (error != std::errc()) return Fail("a number of more than 64 bits");
  return true;
}

bool JsonReader::ReadUint64(uint64_t& value) {
  return ReadWhole(value, "expected a whole number of at least 0");
}

bool JsonReader::ReadInt64(int64_t& value) {
  return ReadWhole(value, "expected a whole number");
}

bool JsonReader::ReadDouble(double& value) {
  std::string_view token;
  if (!TakeNumber(token)) return false;
  if (!absl::SimpleAtod(ToAbsl(token), &value) || !std::isfinite(value)) {
    return Fail("a number that is too large");
  }
  return true;
}

bool JsonReader::ReadBool(bool& value) {
  value = TakeWord("true");
  if (value || TakeWord("false")) return true;
  last_ = at_;
  return Fail("expected true or false");
}

bool JsonReader::ReadNull() { return TakeWord("null"); }

// Skips a number, word or string, or enters a container.
bool JsonReader::SkipStart(std::string& scratch) {
  double number = 0;
  switch (Peek()) {
    case '{':
      return BeginObject();
    case '[':
      return BeginArray();
    case '"':
      return ReadString(scratch);
    case 't':
    case 'f':
    case 'n':
      if (TakeWord("true") || TakeWord("false") || TakeWord("null"))
        return true;
      return FailAt(at_, "expected a value");
    default:
      return ReadDouble(number);
  }
}

bool JsonReader::Skip() {
  std::string scratch;
  const size_t outside = open_.size();
  if (!SkipStart(scratch)) return false;
  while (open_.size() > outside) {
    const bool more = open_.back() == '{' ? NextKey(scratch) : NextItem();
    if (!ok() || (more && !SkipStart(scratch))) return false;
  }
  return true;
}

bool JsonReader::End() {
  SkipSpace();
  if (!ok()) return false;
  return at_ == text_.size() || FailAt(at_, "unexpected text after the end");
}

}  // namespace trainyard

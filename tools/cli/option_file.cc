#include "tools/cli/option_file.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <set>
#include <stdexcept>

#include "trainer/io/json_string.h"
#include "trainer/io/utf8.h"

namespace trainyard {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '+';
}

// Reads both formats: they differ in what stands around names and between
// options.
class OptionParser {
 public:
  OptionParser(std::string_view text, const std::string& path)
      : text_(text), path_(path) {}

  std::vector<FileOption> Parse() {
    const size_t valid = ValidUtf8Prefix(text_);
    if (valid != text_.size()) {
      at_ = valid;
      Fail("the text is not UTF-8");
    }
    SkipSpace();
    json_ = Take('{');
    ReadOptions("", json_ ? '}' : '\0');
    SkipSpace();
    if (at_ != text_.size()) Fail("more text follows the last option");
    return options_;
  }

 private:
  static constexpr int kMaxDepth = 20;

  [[noreturn]] void Fail(const std::string& what) const {
    const auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<std::ptrdiff_t>(
                                           std::min(at_, text_.size())),
                       '\n');
    throw std::invalid_argument(path_ + ":" + std::to_string(line) + ": " +
                                what);
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipSpace() {
    while (at_ < text_.size()) {
      if (Peek() == '#' && !json_) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (Peek() == ' ' || Peek() == '\t' || Peek() == '\r' ||
                 Peek() == '\n') {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool Take(char wanted) {
    SkipSpace();
    if (Peek() != wanted || wanted == '\0') return false;
    ++at_;
    return true;
  }

  std::string Quoted() {
    std::string value;
    const std::string_view error = TakeJsonString(text_, at_, value);
    if (!error.empty()) Fail(std::string(error));
    return value;
  }

  std::string Word(const std::string& what) {
    if (Take('"')) return Quoted();
    const size_t begin = at_;
    while (IsNameCharacter(Peek())) ++at_;
    if (at_ == begin) Fail("expected " + what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Options up to `close`; 0: up to the end of the text.
  void ReadOptions(const std::string& prefix, char close) {
    if (++depth_ > kMaxDepth) Fail("options are nested too deeply");
    for (bool first = true;; first = false) {
      SkipSpace();
      if (close == '\0' ? at_ == text_.size() : Take(close)) break;
      // JSON has commas between options; a text proto may have them.
      const bool comma = !first && (Take(',') || (!json_ && Take(';')));
      if (json_ && !first && !comma) Fail("expected a ',' or a '}'");
      SkipSpace();
      if (!json_ && comma &&
          (close == '\0' ? at_ == text_.size() : Take(close))) {
        break;
      }
      if (json_ && Peek() != '"') Fail("expected a name in quotes");
      ReadOption(prefix + Word("the name of an option"));
    }
    --depth_;
  }

  void ReadOption(const std::string& name) {
    const bool colon = Take(':');
    if (json_ && !colon) Fail("expected a ':' after \"" + name + "\"");
    if (Take('{')) return ReadOptions(name + "_", '}');
    if (!colon) Fail("expected a ':' or a '{' after \"" + name + "\"");
    std::string value;
    if (Take('[')) {
      while (!Take(']')) {
        if (!value.empty() && !Take(',')) Fail("expected a ',' or a ']'");
        value += (value.empty() ? "" : ",") + Word("a value");
      }
    } else {
      value = Word("a value");
    }
    if (!names_.insert(name).second) Fail(name + " is given twice");
    options_.push_back({name, value});
  }

  const std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  int depth_ = 0;
  bool json_ = false;
  std::set<std::string> names_;
  std::vector<FileOption> options_;
};

bool NeedsNoQuotes(const std::string& value) {
  if (value == "true" || value == "false") return true;
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  return !value.empty() && parsed.ptr == end && parsed.ec == std::errc() &&
         value.find_first_not_of("0123456789.+-eE") == std::string::npos &&
         value.front() != '.' && value.back() != '.' &&
         !(value.size() > 1 && value.front() == '0' && value[1] != '.');
}

}  // namespace

std::vector<FileOption> ParseOptionFile(std::string_view text,
                                        const std::string& path) {
  return OptionParser(text, path).Parse();
}

std::string FormatOptionFile(const std::vector<FileOption>& options,
                             bool json) {
  std::string text = json ? "{" : "";
  for (const auto& [name, value] : options) {
    const std::string quoted = NeedsNoQuotes(value) ? value : JsonQuoted(value);
    text += json ? (text.size() == 1 ? "\n  " : ",\n  ") + JsonQuoted(name) +
                       ": " + quoted
                 : name + ": " + quoted + "\n";
  }
  return json ? text + "\n}\n" : text;
}

}  // namespace trainyard

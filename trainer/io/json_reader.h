// JsonReader reads JSON text from a stranger, value by value and in the order
// of the text: nothing is built in memory, nothing recurses. Strict: UTF-8
// only, no comments, no trailing commas, no lone surrogates. Free of libtorch.
//
//   JsonReader json(R"({"lr": 0.1, "names": ["a", "b"]})");
//   std::string key;
//   json.BeginObject();
//   while (json.NextKey(key)) {
//     if (key == "lr") json.ReadDouble(lr);
//     else json.Skip();
//   }
//   json.End();
//   if (!json.ok()) return json.status();  // "byte 17: expected a ':'"
//
// The first error stays: every later call does nothing and returns false.
// Whether a key comes twice is the caller's business. Thread-compatible.
#ifndef TRAINYARD_TRAINER_IO_JSON_READER_H_
#define TRAINYARD_TRAINER_IO_JSON_READER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

class JsonReader {
 public:
  // Objects and arrays within each other: as many as Rust's serde_json allows.
  static constexpr size_t kMaxDepth = 127;

  // `text` must outlive the reader.
  explicit JsonReader(std::string_view text);

  bool BeginObject();
  // Moves to the next key, or past the object's end, where it returns false.
  bool NextKey(std::string& key);

  bool BeginArray();
  // Moves to the next item, or past the array's end, where it returns false.
  bool NextItem();

  bool ReadString(std::string& value);
  // A number without sign, point and exponent.
  bool ReadUint64(uint64_t& value);
  // A number without point and exponent.
  bool ReadInt64(int64_t& value);
  // Any number that a double can hold, if not exactly.
  bool ReadDouble(double& value);
  bool ReadBool(bool& value);
  // The first character of the next value, e.g. '{' or '"'; 0 if there is none.
  char Peek();
  // Reads null if that is what comes next.
  bool ReadNull();

  // Reads over a value of any kind.
  bool Skip();

  // True if nothing but white space is left.
  bool End();

  // Reports what is wrong with the value just read. Returns false.
  bool Fail(std::string_view what) { return FailAt(last_, what); }

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  bool FailAt(size_t at, std::string_view what);
  void SkipSpace();
  bool Take(char wanted, std::string_view what);
  bool TakeWord(std::string_view word);
  bool Begin(char open, std::string_view what);
  bool Next(char close);
  bool TakeString(std::string& value, std::string_view what);
  bool TakeNumber(std::string_view& token);
  template <class Whole>
  bool ReadWhole(Whole& value, std::string_view expected);
  size_t TakeDigits();
  bool SkipStart(std::string& scratch);

  std::string_view text_;
  size_t at_ = 0;
  size_t last_ = 0;       // where the last value or key began
  std::string open_;      // a '{' or '[' for each container we are in
  bool is_first_ = true;  // no comma is due before the next key or item
  absl::Status status_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_JSON_READER_H_

// JsonReader reads untrusted JSON text value by value, in the order of the
// text. It builds nothing in memory and does not recurse. It is strict: UTF-8
// only, no comments, no trailing commas, no lone surrogates. Free of libtorch.
//
//   JsonReader json(R"({"lr": 0.1, "names": ["a", "b"]})");
//   std::string key;
//   json.BeginObject();
//   while (json.NextKey(key)) {
//     if (key == "lr") {
//       json.ReadDouble(lr);
//     } else {
//       json.Skip();
//     }
//   }
//   json.End();
//   if (!json.ok()) return json.status();  // "byte 17: expected a ':'"
//
// After the first error every call does nothing and returns false. Duplicate
// keys are not detected: that is up to the caller. Thread-compatible.
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
  // The maximum nesting of objects and arrays, as in Rust's serde_json.
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
  // Reads a number without sign, decimal point and exponent.
  bool ReadUint64(uint64_t& value);
  // Reads a number without decimal point and exponent.
  bool ReadInt64(int64_t& value);
  // Reads any number in the range of a double, rounded to the nearest.
  bool ReadDouble(double& value);
  bool ReadBool(bool& value);
  // Returns the first character of the next value, e.g. '{' or '"', or 0 at the
  // end of the text.
  char Peek();
  // Reads null if it is the next value. Otherwise returns false; that is no
  // error.
  bool ReadNull();

  // Skips a value of any kind.
  bool Skip();

  // Returns true if only white space is left.
  bool End();

  // Sets an error at the position of the last value. Returns false.
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
  size_t last_ = 0;       // position of the last value or key
  std::string open_;      // a '{' or '[' for each container we are in
  bool is_first_ = true;  // the next key or item needs no comma before it
  absl::Status status_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_IO_JSON_READER_H_

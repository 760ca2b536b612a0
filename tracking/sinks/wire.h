// WireMessage builds a protocol-buffer message field by field, for the few
// messages of others that we write and never read.
//
//   WireMessage event;
//   event.AddDouble(1, wall_time);
//   event.AddMessage(5, summary);
//   event.bytes();
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_WIRE_H_
#define TRAINYARD_TRACKING_SINKS_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

class WireMessage {
 public:
  const std::string& bytes() const { return bytes_; }

  // int32, int64, bool and enum fields.
  void AddInteger(int field, int64_t value) {
    AddKey(field, 0);
    AddVarint(static_cast<uint64_t>(value));
  }
  void AddDouble(int field, double value) {
    AddKey(field, 1);
    AddFixed(value);
  }
  void AddFloat(int field, float value) {
    AddKey(field, 5);
    AddFixed(value);
  }
  // string and bytes fields.
  void AddBytes(int field, std::string_view value) {
    AddKey(field, 2);
    AddVarint(value.size());
    bytes_.append(value);
  }
  void AddMessage(int field, const WireMessage& message) {
    AddBytes(field, message.bytes_);
  }
  // A packed repeated field.
  void AddDoubles(int field, const std::vector<double>& values) {
    AddKey(field, 2);
    AddVarint(values.size() * sizeof(double));
    for (const double value : values) AddFixed(value);
  }

 private:
  void AddKey(int field, uint64_t type) {
    AddVarint((static_cast<uint64_t>(field) << 3) | type);
  }
  void AddVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<char>(value | 0x80));
    }
    bytes_.push_back(static_cast<char>(value));
  }
  // Little-endian, as are the hosts we build for.
  template <class T>
  void AddFixed(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
  }

  std::string bytes_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_WIRE_H_

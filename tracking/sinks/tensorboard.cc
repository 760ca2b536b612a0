#include "tracking/sinks/tensorboard.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "tracking/sinks/append_file.h"
#include "tracking/sinks/event_messages.h"
#include "trainer/io/crc32c.h"

namespace trainyard {
namespace {

template <class T>
std::string Raw(T value) {
  std::string raw(sizeof(value), '\0');
  std::memcpy(raw.data(), &value, sizeof(value));
  return raw;
}

// The format's checksum: rotated and shifted, so that data which contains its
// own checksum does not always have the same one.
std::string Checksum(const std::string& data) {
  const uint32_t crc = Crc32c(data.data(), data.size());
  return Raw<uint32_t>(((crc >> 15) | (crc << 17)) + 0xa282ead8U);
}

class TensorBoard final : public Sink {
 public:
  explicit TensorBoard(const std::string& folder)
      : path_(folder + "/" + kEventFileName) {}

  std::string name() const override { return "tensorboard"; }

  void Open(int64_t position) override {
    file_.Open(path_, position);
    is_empty_ = position == 0;
  }

  void Write(const tracking::Record& record) override {
    if (is_empty_) Append(VersionMessage(record.time));
    is_empty_ = false;
    Append(EventMessage(record));
  }

  void Flush() override { file_.Flush(); }
  int64_t position() override { return file_.Sync(); }

 private:
  void Append(const std::string& message) {
    const std::string length = Raw<uint64_t>(message.size());
    file_.Append(length + Checksum(length));
    file_.Append(message);
    file_.Append(Checksum(message));
  }

  const std::string path_;
  AppendFile file_;
  bool is_empty_ = true;
};

}  // namespace

std::unique_ptr<Sink> MakeTensorBoard(const std::string& folder) {
  return std::make_unique<TensorBoard>(folder);
}

}  // namespace trainyard

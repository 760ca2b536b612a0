// ItemStream is data that can only be read from start to end: a socket, a pipe,
// a file that is decompressed while it is read, a generator. Its length may be
// unknown or infinite.
//
//   class Lines final : public ItemStream<at::Tensor> {
//    public:
//     explicit Lines(const std::string& path) : file_(path) {}
//     std::optional<at::Tensor> Next() override {
//       std::string line;
//       if (!std::getline(file_, line)) return std::nullopt;
//       return Tokens(line);
//     }
//
//    private:
//     std::ifstream file_;
//   };
//
// ShuffledStream shuffles a stream in a buffer of fixed size.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_STREAMING_ITEM_STREAM_H_
#define TRAINYARD_TRAINER_DATA_STREAMING_ITEM_STREAM_H_

#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/sample_random.h"

namespace trainyard {

template <BatchType Item>
class ItemStream {
 public:
  virtual ~ItemStream() = default;

  // Returns the next item, or nothing at the end. Not called after the end.
  virtual std::optional<Item> Next() = 0;

  // Skips up to `count` items and returns how many there were. Override it if
  // items can be skipped without being decoded: resuming skips to its
  // position.
  virtual int64_t Skip(int64_t count) {
    int64_t skipped = 0;
    while (skipped < count && Next()) ++skipped;
    return skipped;
  }
};

// Opens the stream of an epoch at its start.
template <BatchType Item>
using OpenStream =
    std::function<std::unique_ptr<ItemStream<Item>>(int64_t epoch)>;

// The items of another stream, shuffled: each is drawn at random from a buffer
// of `buffer` items. The order depends on the key (EpochKey(seed, epoch)) only.
template <BatchType Item>
class ShuffledStream final : public ItemStream<Item> {
 public:
  // REQUIRES: buffer >= 1.
  ShuffledStream(std::unique_ptr<ItemStream<Item>> stream, int64_t buffer,
                 uint64_t key)
      : stream_(std::move(stream)),
        size_(static_cast<size_t>(buffer)),
        random_(key) {
    TORCH_CHECK_VALUE(stream_ != nullptr, "ShuffledStream: there is no stream");
    TORCH_CHECK_VALUE(buffer >= 1, "ShuffledStream: buffer is ", buffer,
                      "; it must be at least 1");
  }

  std::optional<Item> Next() override {
    while (!ended_ && buffer_.size() < size_) {
      if (std::optional<Item> item = stream_->Next()) {
        buffer_.push_back(*std::move(item));
      } else {
        ended_ = true;
      }
    }
    if (buffer_.empty()) return std::nullopt;
    const auto chosen = static_cast<size_t>(
        random_.Below(static_cast<int64_t>(buffer_.size())));
    std::swap(buffer_[chosen], buffer_.back());
    std::optional<Item> item = std::move(buffer_.back());
    buffer_.pop_back();
    return item;
  }

 private:
  std::unique_ptr<ItemStream<Item>> stream_;
  size_t size_;
  SampleRandom random_;
  std::vector<Item> buffer_;
  bool ended_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_STREAMING_ITEM_STREAM_H_

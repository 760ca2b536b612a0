// StreamLoader makes batches of a stream, on one rank of several. Every rank
// opens the stream and takes its slice of each global batch, passing over the
// others', so that all ranks have equally many batches and any number of ranks
// sees the same global ones.
//
//   StreamLoader<at::Tensor> loader(
//       [](int64_t) { return std::make_unique<Lines>("text.txt"); },
//       {.batch_size = 32});
//   loader.StartEpoch(0);
//   while (const std::optional<AnyBatch> batch = loader.Next()) Use(*batch);
//
// Where it stands is the number of samples that all ranks have been given; to
// go on there, the stream is opened again and passed over to it (Skip).
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_STREAMING_STREAM_LOADER_H_
#define TRAINYARD_TRAINER_DATA_STREAMING_STREAM_LOADER_H_

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/data/batch.h"
#include "trainer/data/collate.h"
#include "trainer/data/ordered_workers.h"
#include "trainer/data/partition.h"
#include "trainer/data/streaming/item_stream.h"
#include "trainer/state.h"

namespace trainyard {

struct StreamLoaderOptions {
  // Samples per batch of this rank. REQUIRES: >= 1.
  int64_t batch_size = 1;
  // What becomes of a last global batch that is not full. kUneven: the first
  // ranks have theirs, later ones fewer, or one row of padding.
  LastBatch last_batch = LastBatch::kUneven;
  // REQUIRES: 0 <= rank < num_ranks.
  int64_t rank = 0;
  int64_t num_ranks = 1;
  // Batches that a thread makes ahead of Next; 0: Next makes them. REQUIRES: >=
  // 0.
  int64_t prefetch = 0;
};

template <BatchType Item>
class StreamLoader final : public Stateful {
 public:
  using Collate = std::function<AnyBatch(std::vector<Item> items)>;

  StreamLoader(OpenStream<Item> open, const StreamLoaderOptions& options,
               Collate collate = nullptr)
      : open_(std::move(open)),
        collate_(std::move(collate)),
        options_(options) {
    TORCH_CHECK_VALUE(open_ != nullptr, "StreamLoader: open is empty");
    TORCH_CHECK_VALUE(options.batch_size >= 1, "StreamLoader: batch_size is ",
                      options.batch_size, "; it must be at least 1");
    TORCH_CHECK_VALUE(options.num_ranks >= 1 && options.rank >= 0 &&
                          options.rank < options.num_ranks,
                      "StreamLoader: there is no rank ", options.rank, " of ",
                      options.num_ranks);
    TORCH_CHECK_VALUE(options.prefetch >= 0, "StreamLoader: prefetch is ",
                      options.prefetch, "; it must not be negative");
    if (!collate_) {
      collate_ = [](std::vector<Item> items) {
        return AnyBatch(StackItems(std::move(items)));
      };
    }
  }

  // REQUIRES: epoch >= 0, first_sample >= 0.
  void StartEpoch(int64_t epoch, int64_t first_sample = 0) {
    TORCH_CHECK_VALUE(epoch >= 0 && first_sample >= 0, "StreamLoader: sample ",
                      first_sample, " of epoch ", epoch);
    thread_.reset();
    epoch_ = epoch;
    position_ = first_sample;
    auto reader = std::make_shared<Reader>(open_(epoch), options_, collate_);
    const int64_t skipped = reader->stream->Skip(first_sample);
    TORCH_CHECK_VALUE(skipped == first_sample, "StreamLoader: sample ",
                      first_sample, " is not in a stream of ", skipped);
    make_ = [reader](int64_t) { return reader->Next(); };
    if (options_.prefetch == 0) return;
    // One worker: a stream has one reader.
    thread_ = std::make_unique<OrderedWorkers<Made>>(
        OrderedWorkersOptions{.workers = 1, .ahead = options_.prefetch},
        std::numeric_limits<int64_t>::max(), make_);
  }

  // The next batch, or nothing at the stream's end.
  std::optional<AnyBatch> Next() {
    if (!make_) return std::nullopt;
    Made made = thread_ != nullptr ? thread_->Next() : make_(0);
    position_ += made.samples;
    if (!made.batch) {
      thread_.reset();
      make_ = nullptr;
    }
    return std::move(made.batch);
  }

  int64_t epoch() const { return epoch_; }
  int64_t position() const { return position_; }

  State SaveState() const override {
    State state;
    state.Set("epoch", epoch_);
    state.Set("position", position_);
    return state;
  }
  void LoadState(const State& state) override {
    state.CheckVersion(1);
    StartEpoch(state.Get<int64_t>("epoch"), state.Get<int64_t>("position"));
  }

 private:
  // A batch, and the samples of all ranks that went by for it.
  struct Made {
    std::optional<AnyBatch> batch;
    int64_t samples = 0;
  };

  struct Reader {
    Reader(std::unique_ptr<ItemStream<Item>> opened,
           const StreamLoaderOptions& reader_options, Collate reader_collate)
        : stream(std::move(opened)),
          options(reader_options),
          collate(std::move(reader_collate)) {
      TORCH_CHECK_VALUE(stream != nullptr, "StreamLoader: open gave no stream");
    }

    Made Next() {
      if (ended) return {};
      const int64_t mine = options.batch_size;
      std::vector<Item> items;
      int64_t count = Skip(options.rank * mine);
      while (!ended && std::ssize(items) < mine) {
        if (std::optional<Item> item = stream->Next()) {
          items.push_back(*std::move(item));
        } else {
          ended = true;
        }
      }
      count += std::ssize(items);
      count += Skip((options.num_ranks - options.rank - 1) * mine);
      const bool full = count == mine * options.num_ranks;
      if (count == 0) return {};
      if (!full && options.last_batch == LastBatch::kDrop) return {};
      const int64_t rows = options.last_batch == LastBatch::kPad
                               ? mine
                               : std::max<int64_t>(std::ssize(items), 1);
      const int64_t padding = rows - std::ssize(items);
      if (padding > 0) {
        TORCH_CHECK_VALUE(!items.empty() || last.has_value(),
                          "StreamLoader: the stream is too short to give rank ",
                          options.rank, " a single sample");
        const Item filler = items.empty() ? *last : items.back();
        items.resize(static_cast<size_t>(rows), filler);
      }
      last = items.back();
      return {collate(std::move(items)).WithPadding(padding), count};
    }

    int64_t Skip(int64_t skip_count) {
      if (ended || skip_count == 0) return 0;
      const int64_t skipped = stream->Skip(skip_count);
      ended = skipped < skip_count;
      return skipped;
    }

    std::unique_ptr<ItemStream<Item>> stream;
    StreamLoaderOptions options;
    Collate collate;
    // For a rank that has nothing of the last batch.
    std::optional<Item> last;
    bool ended = false;
  };

  OpenStream<Item> open_;
  Collate collate_;
  StreamLoaderOptions options_;
  int64_t epoch_ = 0;
  int64_t position_ = 0;
  std::function<Made(int64_t)> make_;
  std::unique_ptr<OrderedWorkers<Made>> thread_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_STREAMING_STREAM_LOADER_H_

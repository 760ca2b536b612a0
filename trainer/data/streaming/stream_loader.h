// StreamLoader makes batches from a stream, for one rank of several. Every rank
// opens the stream, takes its slice of each global batch and skips the slices
// of the others. So all ranks have equally many batches, and any number of
// ranks sees the same global batches.
//
//   StreamLoader<at::Tensor> loader(
//       [](int64_t) { return std::make_unique<Lines>("text.txt"); },
//       {.batch_size = 32});
//   loader.StartEpoch(0);
//   while (const std::optional<AnyBatch> batch = loader.Next()) Use(*batch);
//
// The position is the number of samples that all ranks together have received.
// To resume there, the loader opens the stream again and skips to it (Skip).
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_STREAMING_STREAM_LOADER_H_
#define TRAINYARD_TRAINER_DATA_STREAMING_STREAM_LOADER_H_

#include <ATen/core/grad_mode.h>
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
#include "trainer/data/batch_source.h"
#include "trainer/data/collate.h"
#include "trainer/data/loader_options.h"
#include "trainer/data/ordered_workers.h"
#include "trainer/data/partition.h"
#include "trainer/data/streaming/item_stream.h"

namespace trainyard {

template <BatchType Item>
class StreamLoader final : public BatchSource {
 public:
  using Collate = std::function<AnyBatch(std::vector<Item> items)>;

  // Without `collate`, items are stacked. With last_batch kUneven, the first
  // ranks have full shares of a last global batch that is not full, later ones
  // less or one row of padding.
  StreamLoader(OpenStream<Item> open, const LoaderOptions& options,
               Collate collate = nullptr)
      : open_(std::move(open)),
        collate_(std::move(collate)),
        options_(options) {
    TORCH_CHECK_VALUE(open_ != nullptr, "StreamLoader: open is empty");
    CheckLoaderOptions("StreamLoader", options);
    if (!collate_) {
      collate_ = [](std::vector<Item> items) {
        return AnyBatch(StackItems(std::move(items)));
      };
    }
  }

  // Throws what the stream throws when it is that batch's turn.
  std::optional<AnyBatch> Next() override {
    if (!make_) return std::nullopt;
    Made made = thread_ != nullptr ? thread_->Next() : make_(0);
    position_ += made.samples;
    if (!made.batch) {
      thread_.reset();
      make_ = nullptr;
    }
    return std::move(made.batch);
  }

  int64_t position() const override { return position_; }

 private:
  // A batch, and the samples of all ranks that the stream gave for it.
  struct Made {
    std::optional<AnyBatch> batch;
    int64_t samples = 0;
  };

  class Reader {
   public:
    Reader(std::unique_ptr<ItemStream<Item>> stream,
           const LoaderOptions& options, Collate collate)
        : stream_(std::move(stream)),
          options_(options),
          collate_(std::move(collate)) {
      TORCH_CHECK_VALUE(stream_ != nullptr,
                        "StreamLoader: open returned no stream");
    }

    void SkipTo(int64_t first_sample) {
      // The last item of this rank before that sample: a rank without items in
      // the last batch repeats it, in a resumed epoch as in an uninterrupted
      // one.
      const int64_t after =
          (options_.num_ranks - options_.rank - 1) * options_.batch_size;
      int64_t skipped = 0;
      if (options_.rank > 0 && after < first_sample) {
        skipped = stream_->Skip(first_sample - after - 1);
        filler_ = stream_->Next();
        if (filler_) ++skipped;
      }
      skipped += stream_->Skip(first_sample - skipped);
      TORCH_CHECK_VALUE(skipped == first_sample,
                        "StreamLoader: first_sample is ", first_sample,
                        ", but the stream has ", skipped, " samples");
    }

    Made Next() {
      if (ended_) return {};
      const at::NoGradGuard no_gradients;
      const int64_t mine = options_.batch_size;
      int64_t count = Skip(options_.rank * mine);
      std::vector<Item> items;
      while (std::ssize(items) < mine) {
        std::optional<Item> item = NextItem();
        if (!item) break;
        items.push_back(*std::move(item));
      }
      if (!items.empty()) filler_ = items.back();
      count += std::ssize(items);
      count += Skip((options_.num_ranks - options_.rank - 1) * mine);
      const bool full = count == mine * options_.num_ranks;
      if (count == 0) return {};
      if (!full && options_.last_batch == LastBatch::kDrop) return {};
      const int64_t rows = options_.last_batch == LastBatch::kPad
                               ? mine
                               : std::max<int64_t>(std::ssize(items), 1);
      const int64_t padding = rows - std::ssize(items);
      items.resize(static_cast<size_t>(rows), *filler_);
      const AnyBatch batch = collate_(std::move(items)).WithPadding(padding);
      return {options_.pin_memory ? batch.PinMemory() : batch, count};
    }

   private:
    std::optional<Item> NextItem() {
      if (ended_) return std::nullopt;
      std::optional<Item> item = stream_->Next();
      ended_ = !item;
      return item;
    }

    int64_t Skip(int64_t count) {
      if (ended_ || count == 0) return 0;
      int64_t skipped = 0;
      if (!filler_) {
        filler_ = NextItem();
        if (!filler_) return 0;
        skipped = 1;
      }
      skipped += stream_->Skip(count - skipped);
      ended_ = skipped < count;
      return skipped;
    }

    std::unique_ptr<ItemStream<Item>> stream_;
    LoaderOptions options_;
    Collate collate_;
    // Repeated where this rank has too few items of the last batch: its latest
    // item, or the stream's first.
    std::optional<Item> filler_;
    bool ended_ = false;
  };

  void Start(int64_t epoch, int64_t first_sample) override {
    auto reader = std::make_shared<Reader>(open_(epoch), options_, collate_);
    reader->SkipTo(first_sample);
    thread_.reset();
    position_ = first_sample;
    make_ = [reader](int64_t) { return reader->Next(); };
    if (options_.num_workers == 0) return;
    thread_ = std::make_unique<OrderedWorkers<Made>>(
        OrderedWorkersOptions{.workers = 1, .ahead = PrefetchOf(options_)},
        std::numeric_limits<int64_t>::max(), [reader](int64_t) {
          UseOneThreadHere();
          return reader->Next();
        });
  }

  OpenStream<Item> open_;
  Collate collate_;
  LoaderOptions options_;
  int64_t position_ = 0;
  std::function<Made(int64_t)> make_;
  std::unique_ptr<OrderedWorkers<Made>> thread_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_STREAMING_STREAM_LOADER_H_

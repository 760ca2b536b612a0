// BatchSource gives one rank its batches, epoch by epoch: the trainer's view of
// a loader. Loader (samples by index) and StreamLoader (samples in sequence)
// implement it; a class of your own may, too.
//
//   source.StartEpoch(0);
//   while (const std::optional<AnyBatch> batch = source.Next()) Use(*batch);
//
// The position is the number of samples of the epoch that all ranks together
// have received. SaveState stores epoch and position; LoadState resumes there.
//
// A source of your own overrides three methods:
//
//   class Countdown final : public BatchSource {
//    public:
//     std::optional<AnyBatch> Next() override {
//       if (position_ == 10) return std::nullopt;
//       return AnyBatch(at::full({1}, 10 - position_++));
//     }
//     int64_t position() const override { return position_; }
//
//    private:
//     void Start(int64_t, int64_t first_sample) override {
//       position_ = first_sample;
//     }
//     int64_t position_ = 10;
//   };
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_BATCH_SOURCE_H_
#define TRAINYARD_TRAINER_DATA_BATCH_SOURCE_H_

#include <cstdint>
#include <optional>

#include "trainer/data/batch.h"
#include "trainer/state.h"

namespace trainyard {

class BatchSource : public Stateful {
 public:
  // Starts the epoch at its first sample or, to resume, at `first_sample` (a
  // value of position()). Throws c10::ValueError if there is no such epoch or
  // sample; the source is unchanged then. REQUIRES: both >= 0.
  void StartEpoch(int64_t epoch, int64_t first_sample = 0);

  // Returns the next batch, or nothing at the end of the epoch and before the
  // first StartEpoch.
  virtual std::optional<AnyBatch> Next() = 0;

  // Batches in a whole epoch, and batches that Next still gives in this epoch.
  // Unset if unknown. Equal on all ranks.
  virtual std::optional<int64_t> batches_per_epoch() const { return {}; }
  virtual std::optional<int64_t> batches_left() const { return {}; }

  // The epoch last started.
  int64_t epoch() const { return epoch_; }
  // Samples of this epoch that all ranks together have received. Equal on all
  // ranks.
  virtual int64_t position() const = 0;

  // Epoch and position. Override both if the source has more to save.
  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  // Does what StartEpoch promises. Both arguments are at least 0.
  virtual void Start(int64_t epoch, int64_t first_sample) = 0;

  int64_t epoch_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_BATCH_SOURCE_H_

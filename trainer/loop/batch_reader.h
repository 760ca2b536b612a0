// BatchReader reads a BatchSource for the training loop and says in advance
// whether there is another batch: the last batch of an epoch ends its
// accumulation window.
//
//   BatchReader reader(std::move(source), backend.collectives());
//   reader.StartEpoch(0);
//   while (reader.HasNext()) Use(reader.Next());
//
// A source of known length is asked for its batches_left. Of a source of
// unknown length the reader holds one batch in advance, and the ranks agree:
// the epoch ends on all of them as soon as it ends on one. Position and state
// are those of the batches that Next has returned.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_LOOP_BATCH_READER_H_
#define TRAINYARD_TRAINER_LOOP_BATCH_READER_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include "backends/collectives.h"
#include "trainer/data/batch.h"
#include "trainer/data/batch_source.h"
#include "trainer/state.h"

namespace trainyard {

class BatchReader final : public Stateful {
 public:
  // Borrows `collectives`. Throws c10::ValueError if `source` is null.
  BatchReader(std::unique_ptr<BatchSource> source, Collectives& collectives);

  void StartEpoch(int64_t epoch);

  // Batches in an epoch, and those that Next still returns. Unset if unknown.
  std::optional<int64_t> batches_per_epoch() const {
    return source_->batches_per_epoch();
  }
  std::optional<int64_t> batches_left() const {
    return source_->batches_left();
  }

  // Whether the epoch has another batch. Collective if the length is unknown.
  bool HasNext();

  // The next batch. Throws what the source throws when it is that batch's turn.
  // REQUIRES: HasNext().
  AnyBatch Next();

  // Samples of the epoch that all ranks together have received by Next.
  int64_t position() const;

  State SaveState() const override;
  void LoadState(const State& state) override;

 private:
  // What was read in advance: a batch, an error or the end of the epoch.
  struct Ahead {
    std::optional<AnyBatch> batch;
    std::exception_ptr error;
    // Of the source before it was read.
    State state;
    int64_t position = 0;
    // On all ranks.
    bool ended = false;
  };
  void ReadAhead();

  std::unique_ptr<BatchSource> source_;
  Collectives& collectives_;
  std::optional<Ahead> ahead_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_LOOP_BATCH_READER_H_

#include "trainer/loop/batch_reader.h"

#include <c10/util/Exception.h>

#include <utility>

namespace trainyard {

BatchReader::BatchReader(std::unique_ptr<BatchSource> source,
                         Collectives& collectives)
    : source_(std::move(source)), collectives_(collectives) {
  TORCH_CHECK_VALUE(source_ != nullptr,
                    "the source of batches is null; TrainLoader and EvalLoader "
                    "must return one");
}

void BatchReader::StartEpoch(int64_t epoch) {
  ahead_.reset();
  source_->StartEpoch(epoch);
}

bool BatchReader::HasNext() {
  if (const std::optional<int64_t> left = source_->batches_left())
    return *left > 0;
  if (!ahead_) ReadAhead();
  return !ahead_->ended;
}

void BatchReader::ReadAhead() {
  Ahead ahead{.state = source_->SaveState(), .position = source_->position()};
  try {
    ahead.batch = source_->Next();
  } catch (...) {
    ahead.error = std::current_exception();
  }
  const bool ended = !ahead.batch && ahead.error == nullptr;
  ahead.ended = collectives_.Any(ended);
  ahead_ = std::move(ahead);
}

AnyBatch BatchReader::Next() {
  TORCH_CHECK_VALUE(HasNext(), "Next: the epoch has ended");
  if (!ahead_) return source_->Next().value();
  const Ahead ahead = *std::exchange(ahead_, std::nullopt);
  if (ahead.error != nullptr) std::rethrow_exception(ahead.error);
  return *ahead.batch;
}

int64_t BatchReader::position() const {
  return ahead_ ? ahead_->position : source_->position();
}

State BatchReader::SaveState() const {
  return ahead_ ? ahead_->state : source_->SaveState();
}

void BatchReader::LoadState(const State& state) {
  source_->LoadState(state);
  ahead_.reset();
}

}  // namespace trainyard

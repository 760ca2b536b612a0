#include "backends/processes/shared_exchange.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard {
namespace {

constexpr size_t kAreas = 2;
constexpr size_t kPage = 4096;

size_t RoundUp(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

// What a rank posted.
struct alignas(64) SharedExchange::Slot {
  uint64_t tag;
  uint64_t bytes;
  // Which area has the bytes, if they are more than kSmall.
  uint64_t area;
  std::array<std::byte, kSmall> data;
};

// All of one rank.
struct SharedExchange::Board {
  SharedCounter posted;
  SharedCounter completed;
  std::array<Slot, kOpen> slots;
};

size_t SharedExchange::BytesFor(int64_t size, size_t area) {
  return RoundUp(SharedRanks::BytesFor(size)) +
         static_cast<size_t>(size) *
             (RoundUp(sizeof(Board)) + kAreas * RoundUp(area));
}

SharedExchange::SharedExchange(std::shared_ptr<SharedSegment> segment,
                               size_t area, const SharedRanksOptions& options)
    : segment_(std::move(segment)),
      area_(area),
      ranks_(segment_, options),
      parts_(static_cast<size_t>(options.size)) {
  if (segment_->size() < BytesFor(options.size, area)) {
    throw std::invalid_argument(
        "SharedExchange: the segment has " + std::to_string(segment_->size()) +
        " bytes, too few for areas of " + std::to_string(area));
  }
}

SharedExchange::Board& SharedExchange::At(int64_t rank) const {
  return *std::launder(reinterpret_cast<Board*>(
      segment_->data() + RoundUp(SharedRanks::BytesFor(ranks_.size())) +
      static_cast<size_t>(rank) * RoundUp(sizeof(Board))));
}

std::byte* SharedExchange::Area(int64_t rank, uint64_t index) const {
  const auto size = static_cast<size_t>(ranks_.size());
  return segment_->data() + RoundUp(SharedRanks::BytesFor(ranks_.size())) +
         size * RoundUp(sizeof(Board)) +
         (static_cast<size_t>(rank) * kAreas + index) * RoundUp(area_);
}

void SharedExchange::WaitUntilAllCompleted(uint32_t number) {
  for (int64_t rank = 0; rank < ranks_.size(); ++rank) {
    if (rank != ranks_.rank()) {
      ranks_.Wait(At(rank).completed, number, rank);
    }
  }
}

uint32_t SharedExchange::Post(uint64_t tag, const void* data, size_t bytes) {
  return Post(tag, bytes, [&](std::byte* place) {
    if (bytes > 0) std::memcpy(place, data, bytes);
  });
}

uint32_t SharedExchange::Post(uint64_t tag, size_t bytes,
                              const std::function<void(std::byte*)>& write) {
  if (bytes > area_) {
    throw std::invalid_argument("SharedExchange: " + std::to_string(bytes) +
                                " bytes do not fit into an area of " +
                                std::to_string(area_));
  }
  const uint32_t number = posted_ + 1;
  Board& board = At(ranks_.rank());
  Slot& slot = board.slots[number % kOpen];
  // Others may still read what was there.
  WaitUntilAllCompleted(number - kOpen);
  slot.tag = tag;
  slot.bytes = bytes;
  if (bytes > kSmall) {
    slot.area = large_++ % kAreas;
    WaitUntilAllCompleted(last_in_area_[slot.area]);
    last_in_area_[slot.area] = number;
    write(Area(ranks_.rank(), slot.area));
  } else {
    write(slot.data.data());
  }
  posted_ = number;
  ranks_.Publish(board.posted, number);
  return number;
}

void SharedExchange::Complete(uint32_t number,
                              const std::function<void(const Parts&)>& read) {
  const uint64_t own_tag = At(ranks_.rank()).slots[number % kOpen].tag;
  for (int64_t rank = 0; rank < ranks_.size(); ++rank) {
    Board& board = At(rank);
    if (rank != ranks_.rank()) ranks_.Wait(board.posted, number, rank);
    const Slot& slot = board.slots[number % kOpen];
    if (slot.tag != own_tag) {
      throw std::runtime_error("rank " + std::to_string(rank) +
                               " exchanges something else (" +
                               std::to_string(slot.tag) + ", this rank " +
                               std::to_string(own_tag) + ")");
    }
    parts_[static_cast<size_t>(rank)] = {
        slot.bytes > kSmall ? Area(rank, slot.area) : slot.data.data(),
        slot.bytes};
  }
  read(parts_);
  ranks_.Publish(At(ranks_.rank()).completed, number);
}

}  // namespace trainyard

#include "trainer/checkpoint/format/checked_read.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>

#include "trainer/io/crc32c.h"

namespace trainyard {
namespace {

// Small enough to be in the cache still when its checksum is computed.
constexpr uint64_t kPiece = uint64_t{256} << 10;
// The bytes that a thread reads at a time.
constexpr uint64_t kShare = uint64_t{4} << 20;
// Reading less takes less time than starting threads.
constexpr uint64_t kWorthThreads = uint64_t{16} << 20;
constexpr unsigned kMostThreads = 4;

absl::Status ReadOne(const InputFile& file, CheckedPart& part) {
  std::vector<char> buffer(part.to == nullptr ? std::min(part.size, kPiece)
                                              : 0);
  for (uint64_t at = 0; at < part.size; at += kPiece) {
    const size_t size = std::min(kPiece, part.size - at);
    char* const place =
        part.to == nullptr ? buffer.data() : static_cast<char*>(part.to) + at;
    const absl::Status read = file.ReadAt(part.offset + at, place, size);
    if (!read.ok()) return read;
    part.crc32c = Crc32c(place, size, part.crc32c);
  }
  return absl::OkStatus();
}

// Splits each part into consecutive shares.
std::vector<CheckedPart> SharesOf(const std::vector<CheckedPart>& parts) {
  std::vector<CheckedPart> shares;
  for (const CheckedPart& part : parts) {
    for (uint64_t at = 0; at < part.size; at += kShare) {
      shares.push_back({.offset = part.offset + at,
                        .size = std::min(kShare, part.size - at),
                        .to = part.to == nullptr
                                  ? nullptr
                                  : static_cast<char*>(part.to) + at});
    }
  }
  return shares;
}

absl::Status ReadByThreads(const InputFile& file, unsigned threads,
                           std::vector<CheckedPart>& shares) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  absl::Status status;
  const auto work = [&] {
    for (size_t i = next++; i < shares.size(); i = next++) {
      const absl::Status read = ReadOne(file, shares[i]);
      if (read.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      status.Update(read);
      next = shares.size();
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return status;
}

}  // namespace

absl::Status ReadChecked(const InputFile& file,
                         std::vector<CheckedPart>& parts) {
  uint64_t total = 0;
  for (const CheckedPart& part : parts) total += part.size;
  const unsigned threads =
      std::min(kMostThreads, std::thread::hardware_concurrency());
  if (total < kWorthThreads || threads < 2) {
    for (CheckedPart& part : parts) {
      const absl::Status read = ReadOne(file, part);
      if (!read.ok()) return read;
    }
    return absl::OkStatus();
  }
  std::vector<CheckedPart> shares = SharesOf(parts);
  const absl::Status read = ReadByThreads(file, threads, shares);
  if (!read.ok()) return read;
  auto share = shares.begin();
  for (CheckedPart& part : parts) {
    for (uint64_t at = 0; at < part.size; at += kShare, ++share) {
      part.crc32c = Crc32cCombined(part.crc32c, share->crc32c, share->size);
    }
  }
  return absl::OkStatus();
}

}  // namespace trainyard

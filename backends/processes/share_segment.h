// ShareSegment gives a segment of memory to all ranks of one machine.
//
//   const auto segment = ShareSegment(
//       *store, {.name = "sums", .rank = rank, .size = size, .bytes = 4096});
//   if (segment == nullptr) …  // use the network
//
// Collective.
#ifndef TRAINYARD_BACKENDS_PROCESSES_SHARE_SEGMENT_H_
#define TRAINYARD_BACKENDS_PROCESSES_SHARE_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/processes/shared_segment.h"

namespace c10d {
class Store;
}  // namespace c10d

namespace trainyard {

struct ShareSegmentOptions {
  // Of the segment in the store. Use each name once.
  std::string name = "segment";
  int64_t rank = 0;
  int64_t size = 1;
  size_t bytes = 0;
  // Whether this rank can use it at all. If one rank cannot, none does.
  bool usable = true;
};

// Returns null on all ranks if one of them cannot map the segment, because it
// is in another container for example.
std::shared_ptr<SharedSegment> ShareSegment(c10d::Store& store,
                                            const ShareSegmentOptions& options);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_SHARE_SEGMENT_H_

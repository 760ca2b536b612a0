#include "backends/processes/share_segment.h"

#include <exception>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace trainyard {
namespace {

constexpr char kNone[] = "none";

std::shared_ptr<SharedSegment> Create(const ShareSegmentOptions& options) {
  if (!options.usable) return nullptr;
  try {
    return SharedSegment::Create(options.bytes);
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::shared_ptr<SharedSegment> Open(const std::string& address,
                                    const ShareSegmentOptions& options) {
  if (!options.usable || address == kNone) return nullptr;
  try {
    return SharedSegment::Open(address, options.bytes);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

std::shared_ptr<SharedSegment> ShareSegment(
    c10d::Store& store, const ShareSegmentOptions& options) {
  const std::string address = options.name + "/address";
  const auto mapped = [&](int64_t rank) {
    return options.name + "/mapped/" + std::to_string(rank);
  };
  std::shared_ptr<SharedSegment> segment;
  if (options.rank == 0) {
    segment = Create(options);
    store.set(address, segment ? segment->address() : std::string(kNone));
  } else {
    segment = Open(store.get_to_str(address), options);
  }
  store.set(mapped(options.rank), std::string(segment ? "1" : "0"));
  bool all = true;
  for (int64_t rank = 0; rank < options.size; ++rank) {
    all &= store.get_to_str(mapped(rank)) == "1";
  }
  if (!all) return nullptr;
  segment->CloseFile();
  return segment;
}

}  // namespace trainyard

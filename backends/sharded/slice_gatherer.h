// SliceGatherer makes parameters whole again after each rank has updated its
// slices: every rank gets the slices of all others.
//
//   SliceGatherer gatherer(exchange, slices, /*bucket_bytes=*/25 << 20);
//   optimizer.step();
//   gatherer.Gather();
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_SLICE_GATHERER_H_
#define TRAINYARD_BACKENDS_SHARDED_SLICE_GATHERER_H_

#include <cstddef>
#include <vector>

#include "backends/sharded/chunk_layout.h"
#include "backends/sharded/slice_exchange.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

class SliceGatherer {
 public:
  // Exchanges buckets of about this size. Borrows the exchange.
  SliceGatherer(SliceExchange& exchange, std::vector<ParamSlice> params,
                size_t bucket_bytes);

  // Collective.
  void Gather();

  size_t size() const { return params_.size(); }

 private:
  struct Bucket {
    std::vector<size_t> params;
    ChunkLayout chunks;
  };
  void AddBucket(std::vector<size_t> params);

  SliceExchange& exchange_;
  const std::vector<ParamSlice> params_;
  std::vector<Bucket> buckets_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_SLICE_GATHERER_H_

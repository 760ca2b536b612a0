// ShardUnit gathers parameters together and frees them together. Between the
// two, parameters have their values; the rest of the time only this rank's
// slices exist.
//
//   ShardUnit unit("layers.0", exchange, slices, /*bucket_bytes=*/25 << 20);
//   unit.Release();  // parameters have no memory
//   unit.Start();    // in the background
//   unit.Gather();   // they are whole
//
// Parameters are the same tensors all the time: see parameter_storage.h. A unit
// starts whole. Start, Gather and Refresh are collective: all ranks must call
// them for the same units in the same order. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_SHARD_UNIT_H_
#define TRAINYARD_BACKENDS_SHARDED_SHARD_UNIT_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/sharded/chunk_layout.h"
#include "backends/sharded/slice_exchange.h"
#include "trainer/optim/optimizer.h"

namespace trainyard {

class ShardUnit {
 public:
  // Each slice has memory of its own, and each parameter all of its storage.
  // Exchanges buckets of about this size. Borrows the exchange.
  ShardUnit(std::string name, SliceExchange& exchange,
            std::vector<ParamSlice> params, size_t bucket_bytes);

  const std::string& name() const { return name_; }
  const std::vector<ParamSlice>& params() const { return params_; }
  bool whole() const { return whole_; }
  bool started() const { return started_; }

  // Starts a gather, unless the unit is whole or one was started.
  void Start();
  // Makes the parameters whole, if they are not.
  void Gather();
  // Frees the parameters, and what a gather has received.
  void Release();
  // Gathers new values of the slices into parameters that are whole.
  void Refresh();
  // Copies the values of parameters that are whole to this rank's slices.
  void Cut();

 private:
  struct Bucket {
    std::vector<size_t> params;
    ChunkLayout chunks;
    std::unique_ptr<SliceExchange::Pending> pending = nullptr;
  };
  // Whether ranks read the slices where they are; then there is nothing to
  // start.
  bool InPlace(const Bucket& bucket) const;
  at::TensorOptions OptionsOf(const Bucket& bucket) const;
  void Put(const Bucket& bucket, at::Tensor& row) const;
  void Join(const Bucket& bucket, const std::vector<at::Tensor>& rows) const;
  void Send(Bucket& bucket);
  void Receive(Bucket& bucket);

  const std::string name_;
  SliceExchange& exchange_;
  const std::vector<ParamSlice> params_;
  const std::string message_;
  std::vector<Bucket> buckets_;
  bool whole_ = true;
  bool started_ = false;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_SHARD_UNIT_H_

// ShardedBackend is the base class of the backends that shard over ranks: each
// rank has a slice of every parameter, which its optimizers update. A backend
// adds where the slices are, and what happens around passes and updates.
//
//   class OwnSharding final : public ShardedBackend {
//    public:
//     explicit OwnSharding(std::shared_ptr<ProcessGroup> group)
//         : ShardedBackend("own", std::move(group),
//                          MakeSingleProcessBackend(at::kCPU), {}, true) {}
//     …
//   };
//
//   OwnSharding backend(group);
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_SHARDED_SHARDED_BACKEND_H_
#define TRAINYARD_BACKENDS_SHARDED_SHARDED_BACKEND_H_

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backends/backend_decorator.h"
#include "backends/largest_weight.h"
#include "backends/processes/process_group.h"
#include "backends/sharded/shard_layout.h"
#include "backends/sharded/shard_reducer.h"
#include "backends/sharded/slice_exchange.h"
#include "backends/weight_sum.h"

namespace trainyard {

class ShardedBackend : public BackendDecorator {
 public:
  // `buffers`: whether rank 0's buffers are copied to the other ranks after
  // every update.
  ShardedBackend(std::string name, std::shared_ptr<ProcessGroup> group,
                 std::unique_ptr<Backend> backend, ShardReducerOptions reducer,
                 bool buffers);

  const std::string& name() const final { return name_; }
  Collectives& collectives() const final { return *collectives_; }
  bool shards_gradients() const final { return true; }

  void Prepare(const std::vector<ModelTensors>& models) override;
  void PrepareOptimizer(Optimizer& optimizer) override;
  double ReferenceWeight(double weight) final;
  void Backward(const at::Tensor& loss,
                const BackwardOptions& options) override;
  void BackwardWithoutBatch(const BackwardOptions& options) override;
  double FinishGradients(Optimizer& optimizer) final;
  bool Update(Optimizer& optimizer, const UpdateOptions& options) final;
  void EndWindow() override;
  State SaveState() const final;
  void LoadState(const State& state) final;

 protected:
  // Makes the slice of a parameter, which is contiguous. Called once for every
  // parameter with a floating-point type.
  virtual ParamSlice MakeSlice(const at::Tensor& parameter) = 0;
  // The slices of the optimizer were updated. Collective.
  virtual void Updated(Optimizer& optimizer) = 0;
  // Prepare has made the slices of all parameters.
  virtual void SlicesMade() {}
  // Gradients are exchanged in buckets of one group.
  virtual size_t GroupOf(const at::Tensor& /*parameter*/) const { return 0; }
  // A backward pass has computed the gradient of a parameter.
  virtual void Computed(const at::Tensor& /*parameter*/) {}
  // A backward pass sends this bucket of a model.
  virtual void Sending(size_t /*model*/, size_t /*bucket*/) {}
  // Called between the start and the end of the exchange by a rank that has no
  // batch: does what others do in their backward pass.
  virtual void TakePart(const std::vector<ShardReducer*>& /*by_model*/) {}

  // A copy in the memory of the host, pinned for CUDA: optimizers update it on
  // the CPU.
  static at::Tensor CopyToHost(const at::Tensor& slice);

  ProcessGroup& group() { return *group_; }
  SliceExchange& exchange() { return exchange_; }
  const ShardLayout& layout() const { return layout_; }
  const std::vector<ModelTensors>& models() const { return models_; }
  // The slice of a parameter; null if it has none.
  const ParamSlice* Find(const at::Tensor& parameter) const;

 private:
  void AddSlices();
  void MakeReducers();
  void RemakeReducersIfStale();
  std::vector<ShardReducer*> Reached(const at::Tensor& loss) const;
  double NormOverRanks(Optimizer& optimizer);
  // Whether all of its parameters are slices. The address of an optimizer says
  // nothing: another one may have had it before.
  bool UpdatesSlices(const Optimizer& optimizer) const;

  const std::string name_;
  const std::shared_ptr<ProcessGroup> group_;
  const std::unique_ptr<Collectives> collectives_;
  const ShardLayout layout_;
  SliceExchange exchange_;
  const ShardReducerOptions reducer_options_;
  const bool broadcast_buffers_;
  WeightSum weights_;
  LargestWeight largest_;

  std::vector<ModelTensors> models_;
  std::vector<at::Tensor> buffers_;
  std::unordered_map<const void*, ParamSlice> slices_;  // by parameter
  std::unordered_set<const void*> slice_tensors_;
  std::vector<std::unique_ptr<ShardReducer>> reducers_;  // one per model
  std::vector<bool> required_;  // of all parameters of all models
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_SHARDED_SHARDED_BACKEND_H_

// BackendDecorator forwards every call to another backend. Derive from it to
// add something to any backend, and override only what differs:
//
//   class CountingBackend final : public BackendDecorator {
//    public:
//     using BackendDecorator::BackendDecorator;
//     bool Update(Optimizer& optimizer, const UpdateOptions& options) override {
//       ++updates;
//       return BackendDecorator::Update(optimizer, options);
//     }
//     int updates = 0;
//   };
//
//   CountingBackend backend(MakeBackend("sp"));
//
// Thread-compatible.
#ifndef TRAINYARD_BACKENDS_BACKEND_DECORATOR_H_
#define TRAINYARD_BACKENDS_BACKEND_DECORATOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace trainyard {

class BackendDecorator : public Backend {
 public:
  // Throws c10::ValueError if there is no backend.
  explicit BackendDecorator(std::unique_ptr<Backend> backend);

  const std::string& name() const override { return backend_->name(); }
  at::Device device() const override { return backend_->device(); }
  Collectives& collectives() const override { return backend_->collectives(); }
  void Prepare(const std::vector<ModelTensors>& models) override {
    backend_->Prepare(models);
  }
  void PrepareOptimizer(Optimizer& optimizer) override {
    backend_->PrepareOptimizer(optimizer);
  }
  bool shards_gradients() const override {
    return backend_->shards_gradients();
  }
  bool shards_parameters() const override {
    return backend_->shards_parameters();
  }
  std::optional<TensorSlice> HeldSlice(
      const at::Tensor& parameter) const override {
    return backend_->HeldSlice(parameter);
  }
  void GatherParameters() override { backend_->GatherParameters(); }
  void ReleaseParameters() override { backend_->ReleaseParameters(); }
  void ParametersLoaded() override { backend_->ParametersLoaded(); }
  double ReferenceWeight(double weight) override {
    return backend_->ReferenceWeight(weight);
  }
  void Forward(c10::function_ref<void()> pass) override {
    backend_->Forward(pass);
  }
  void Backward(const at::Tensor& loss,
                const BackwardOptions& options) override {
    backend_->Backward(loss, options);
  }
  void BackwardWithoutBatch(const BackwardOptions& options) override {
    backend_->BackwardWithoutBatch(options);
  }
  double FinishGradients(Optimizer& optimizer) override {
    return backend_->FinishGradients(optimizer);
  }
  bool Update(Optimizer& optimizer, const UpdateOptions& options) override {
    return backend_->Update(optimizer, options);
  }
  bool outcome_is_open(const Optimizer& optimizer) const override {
    return backend_->outcome_is_open(optimizer);
  }
  bool ReadOutcome(Optimizer& optimizer) override {
    return backend_->ReadOutcome(optimizer);
  }
  // What a decorator adds may not be in the graph: one that is captured says
  // so.
  bool capturable() const override { return false; }
  void EndWindow() override { backend_->EndWindow(); }

  // A decorator with state of its own adds its values to the wrapped
  // backend's, under names that are free.
  State SaveState() const override { return backend_->SaveState(); }
  void LoadState(const State& state) override { backend_->LoadState(state); }

 private:
  const std::unique_ptr<Backend> backend_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_BACKEND_DECORATOR_H_

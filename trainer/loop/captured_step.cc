#include "trainer/loop/captured_step.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <algorithm>

#include "trainer/error_message.h"

// After every header of libtorch, which defines LOG too.
#include <glog/logging.h>

namespace trainyard {
namespace {

std::vector<double> FixedFields(const Optimizer& optimizer) {
  std::vector<double> fields;
  for (size_t group = 0; group < optimizer.num_groups(); ++group) {
    for (const auto& [name, value] : optimizer.Fields(group)) {
      if (name != "lr") fields.push_back(value);
    }
  }
  return fields;
}

std::string ClassOf(const Optimizer& optimizer) {
  return c10::demangle(typeid(optimizer).name());
}

at::Tensor Copy(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.clone() : tensor;
}

}  // namespace

CapturedStep::CapturedStep(Parts parts, int64_t warmup_steps)
    : parts_(std::move(parts)), warmup_steps_(warmup_steps) {
  const Backend& backend = parts_.backend;
  TORCH_CHECK_VALUE(HasStepGraph(backend.device().type()),
                    "CapturedStep: steps on ", backend.device(),
                    " cannot be captured as graphs; train on CUDA in a build "
                    "with --config=cuda, or without capture_after_steps");
  TORCH_CHECK_VALUE(backend.capturable(), "CapturedStep: steps on the backend ",
                    backend.name(),
                    " cannot be captured: it exchanges gradients with other "
                    "processes, scales losses by a number on the host, or does "
                    "not say that it can; use sp, or sp-amp with BFloat16");
  TORCH_CHECK_VALUE(warmup_steps_ >= 1, "CapturedStep: warmup_steps is ",
                    warmup_steps_, "; it must be at least 1");
  for (const NamedTensor& item : parts_.task.NamedTensors()) {
    tensors_.push_back(item.tensor);
  }
  for (Optimizer* optimizer : parts_.optimizers) {
    if (!optimizer->capturable()) continue;
    // Makes its state, which must not be made in a graph.
    optimizer->NamedTensors();
    optimizer->KeepRatesOnDevice(true);
  }
}

CapturedStep::~CapturedStep() {
  for (Optimizer* optimizer : parts_.optimizers) {
    if (optimizer->capturable()) optimizer->KeepRatesOnDevice(false);
  }
}

CapturedStep::BatchShape CapturedStep::ShapeOf(const AnyBatch& batch) {
  BatchShape shape{.layout = batch.layout(),
                   .records = batch.size(),
                   .padding = batch.padding()};
  for (const at::Tensor& tensor : batch.tensors()) {
    shape.sizes.push_back(tensor.defined() ? tensor.sizes().vec()
                                           : std::vector<int64_t>{-1});
    shape.types.push_back(tensor.defined() ? tensor.scalar_type()
                                           : at::ScalarType::Undefined);
  }
  return shape;
}

std::vector<std::pair<const void*, bool>> CapturedStep::Places() const {
  std::vector<std::pair<const void*, bool>> places;
  places.reserve(tensors_.size());
  for (const at::Tensor& tensor : tensors_) {
    places.emplace_back(tensor.const_data_ptr(), tensor.requires_grad());
  }
  return places;
}

void CapturedStep::SayOnce(const std::string& what) {
  if (std::find(said_.begin(), said_.end(), what) != said_.end()) return;
  said_.push_back(what);
  LOG(WARNING) << what;
}

void CapturedStep::StartOver(BatchShape shape) {
  // In the order of use: the updates read the gradients of the passes.
  updates_.clear();
  passes_.reset();
  gradients_.clear();
  output_ = {};
  inputs_.reset();
  shape_ = std::move(shape);
  places_ = Places();
  warm_ = 0;
  weight_.reset();
}

std::optional<StepOutput> CapturedStep::RunPasses(const AnyBatch& batch,
                                                  Passes passes) {
  replayed_ = false;
  BatchShape shape = ShapeOf(batch);
  if (!shape_) {
    StartOver(std::move(shape));
  } else if (Places() != places_) {
    SayOnce(
        "the step is captured again: memory or requires_grad of a parameter "
        "changed");
    StartOver(std::move(shape));
  } else if (shape != *shape_) {
    same_shape_ = false;
    // Until there is a graph, the latest shape is the one to capture.
    if (passes_ == nullptr) {
      SayOnce("batches differ in shape: the step is captured after " +
              std::to_string(warmup_steps_) + " in a row of one shape");
      StartOver(std::move(shape));
    } else {
      SayOnce(
          "a batch has another shape than the captured step: such batches are "
          "trained on without the graph");
      return std::nullopt;
    }
  }
  same_shape_ = true;
  if (passes_ == nullptr) {
    if (warm_ < warmup_steps_) {
      ++warm_;
      return std::nullopt;
    }
    CapturePasses(batch, passes);
  }
  replayed_ = true;
  return Replay(batch);
}

void CapturedStep::CheckWeight(double weight) {
  if (!same_shape_) return;
  if (!weight_) weight_ = weight;
  TORCH_CHECK_VALUE(
      *weight_ == weight && weight > 0,
      "CapturedStep: batches of one shape have the weights ", *weight_, " and ",
      weight,
      ", but a replay repeats the weight of the capture; train without "
      "capture_after_steps");
}

void CapturedStep::CapturePasses(const AnyBatch& batch, Passes passes) {
  const at::Device device = parts_.backend.device();
  const at::Generator random = at::detail::getDefaultCPUGenerator();
  const at::Tensor random_before = random.get_state();
  for (const at::Tensor& tensor : batch.tensors()) {
    TORCH_CHECK_VALUE(!tensor.defined() || tensor.device() == device,
                      "CapturedStep: a tensor of the batch is on ",
                      tensor.device(),
                      "; a replay reads tensors on the device only");
  }
  inputs_ = batch.Map([](const at::Tensor& tensor) { return tensor.clone(); });
  for (at::Tensor& tensor : tensors_) {
    if (tensor.requires_grad()) tensor.mutable_grad().reset();
  }
  auto graph = MakeStepGraph(device);
  try {
    graph->Capture([&] {
      output_ = passes(*inputs_);
      output_.loss = output_.loss.detach();
      for (auto& [name, value] : output_.metrics) value = value.detach();
      if (output_.outputs.defined()) output_.outputs = output_.outputs.detach();
    });
  } catch (const std::exception& e) {
    for (at::Tensor& tensor : tensors_) {
      if (tensor.requires_grad()) tensor.mutable_grad().reset();
    }
    C10_THROW_ERROR(ValueError,
                    "CapturedStep: the forward and backward pass cannot be "
                    "captured: " +
                        ErrorMessage(e));
  }
  TORCH_CHECK_VALUE(random.get_state().equal(random_before),
                    "CapturedStep: the step draws random numbers on the CPU, "
                    "which would be the same at every replay; draw them on ",
                    device);
  CheckWeight(output_.weight.value());
  TORCH_CHECK_VALUE(output_.loss.device() == device,
                    "CapturedStep: the loss is on ", output_.loss.device(),
                    "; it would be the same at every replay");
  for (const auto& [name, value] : output_.metrics) {
    TORCH_CHECK_VALUE(value.device() == device, "CapturedStep: the metric \"",
                      name, "\" is on ", value.device(),
                      "; it would be the same at every replay");
  }
  for (const at::Tensor& tensor : tensors_) {
    if (tensor.grad().defined()) gradients_.emplace_back(tensor, tensor.grad());
  }
  passes_ = std::move(graph);
}

StepOutput CapturedStep::Replay(const AnyBatch& batch) {
  const at::NoGradGuard no_gradients;
  const std::vector<at::Tensor> from = batch.tensors();
  const std::vector<at::Tensor> to = inputs_->tensors();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].defined()) to[i].copy_(from[i], /*non_blocking=*/true);
  }
  passes_->Replay();
  for (auto& [parameter, gradient] : gradients_) {
    parameter.mutable_grad() = gradient;
  }
  // The next replay overwrites the graph's own.
  StepOutput output = output_;
  output.loss = Copy(output.loss);
  for (auto& [name, value] : output.metrics) value = Copy(value);
  output.outputs = Copy(output.outputs);
  return output;
}

void CapturedStep::CaptureUpdate(Optimizer& optimizer,
                                 const UpdateOptions& options) {
  // Lists that were added since have neither.
  optimizer.NamedTensors();
  optimizer.KeepRatesOnDevice(true);
  CapturedUpdate update{.fields = FixedFields(optimizer),
                        .divisor = options.divisor,
                        .clip = options.clip};
  update.graph = MakeStepGraph(parts_.backend.device());
  try {
    update.graph->Capture(
        [&] { update.updated = parts_.backend.Update(optimizer, options); });
  } catch (const std::exception& e) {
    C10_THROW_ERROR(ValueError, "CapturedStep: the update of " +
                                    ClassOf(optimizer) +
                                    " cannot be captured: " + ErrorMessage(e));
  }
  updates_[&optimizer] = std::move(update);
}

bool CapturedStep::Update(Optimizer& optimizer, const UpdateOptions& options) {
  if (!replayed_) return parts_.backend.Update(optimizer, options);
  if (!optimizer.capturable() || options.clip.kind == Clip::Kind::kFunction) {
    SayOnce((optimizer.capturable() ? "a function clips gradients: updates of "
                                    : "updates cannot be captured of ") +
            ClassOf(optimizer) + ", which runs without a graph");
    return parts_.backend.Update(optimizer, options);
  }
  const auto found = updates_.find(&optimizer);
  const CapturedUpdate* const captured =
      found == updates_.end() ? nullptr : &found->second;
  if (captured == nullptr || captured->divisor != options.divisor ||
      captured->clip.kind != options.clip.kind ||
      captured->clip.limit != options.clip.limit ||
      captured->fields != FixedFields(optimizer)) {
    if (captured != nullptr) {
      SayOnce("the update of " + ClassOf(optimizer) +
              " is captured again whenever a field other than lr changes");
    }
    CaptureUpdate(optimizer, options);
  }
  const CapturedUpdate& update = updates_.at(&optimizer);
  optimizer.PrepareReplay();
  update.graph->Replay();
  return update.updated;
}

}  // namespace trainyard

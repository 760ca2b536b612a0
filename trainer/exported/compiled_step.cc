#include "trainer/exported/compiled_step.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "trainer/error_message.h"
#include "trainer/exported/operands.h"
#include "trainer/exported/step_text.h"
#include "trainer/model/ready_gradients.h"

namespace trainyard {
namespace {

// Holds the memory of one result over the runs.
class ResultMemory {
 public:
  // `result`, if nobody else holds it. The library of a small graph returns
  // tensors that its next run overwrites: of these, a copy.
  at::Tensor Own(at::Tensor result) {
    if (IsHeldOnce(result)) return result;
    const bool fits = copy_.defined() && IsHeldOnce(copy_) &&
                      copy_.sizes() == result.sizes() &&
                      copy_.scalar_type() == result.scalar_type();
    if (!fits) copy_ = at::empty(result.sizes(), result.options());
    if (result.is_contiguous()) {
      std::memcpy(copy_.mutable_data_ptr(), result.const_data_ptr(),
                  result.nbytes());
    } else {
      copy_.copy_(result);
    }
    return copy_;
  }

 private:
  static bool IsHeldOnce(const at::Tensor& tensor) {
    return tensor.use_count() == 1 && tensor.storage().use_count() == 1;
  }
  at::Tensor copy_;
};

// An input that the caller passes.
struct Passed {
  std::string name;
  c10::ScalarType type;
  std::vector<GraphSize> sizes;
};

}  // namespace

struct CompiledStep::Parts {
  StepText text;
  std::shared_ptr<Model> model;
  std::vector<at::Tensor> taken;  // tensors of the model
  std::vector<Passed> passed;
  std::vector<at::Tensor> trained;  // as text.gradients
  std::vector<at::Tensor> updated;  // as text.buffers
  // Unset before the first run.
  std::optional<ReadyGradients> ready = std::nullopt;
  // Of the outputs and the gradients.
  std::vector<ResultMemory> memory = {};
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> library = nullptr;
  std::vector<UnitTensors> units = {};

  void CheckTensors() const;
};

// Everything that may not change without the library knowing. Called at the
// first run, and when parameters were frozen or unfrozen since.
void CompiledStep::Parts::CheckTensors() const {
  for (const NamedTensor& item : model->Parameters()) {
    if (!item.tensor.requires_grad()) continue;
    const bool is_known = std::any_of(
        trained.begin(), trained.end(),
        [&](const at::Tensor& own) { return own.is_same(item.tensor); });
    TORCH_CHECK_VALUE(is_known, "CompiledStep: parameter \"", item.name,
                      "\" requires a gradient, and the library does not "
                      "compute one. Adapters and parameters that were frozen "
                      "in Python need the interpreted model");
  }
}

namespace {

// Is inside of all units for its lifetime: the library uses all parameters.
class InsideUnits {
 public:
  explicit InsideUnits(const std::vector<UnitTensors>& units) : units_(units) {
    for (const UnitTensors& item : units_) item.unit->Enter({});
  }
  // Nothing is differentiated through them: gradients are computed already.
  ~InsideUnits() {
    for (const UnitTensors& item : units_) item.unit->Leave({});
  }
  InsideUnits(const InsideUnits&) = delete;
  InsideUnits& operator=(const InsideUnits&) = delete;

 private:
  const std::vector<UnitTensors>& units_;
};

}  // namespace

CompiledStep::CompiledStep(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}
CompiledStep::~CompiledStep() = default;

std::vector<std::string> CompiledStep::InputNames() const {
  std::vector<std::string> names;
  for (const Passed& input : parts_->passed) names.push_back(input.name);
  return names;
}

bool CompiledStep::Takes(const std::vector<at::Tensor>& inputs) const {
  if (inputs.size() != parts_->passed.size()) return false;
  std::map<std::string_view, int64_t> named;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Passed& wanted = parts_->passed[i];
    const at::Tensor& given = inputs[i];
    const bool is_like =
        given.defined() && given.is_cpu() &&
        given.scalar_type() == wanted.type &&
        static_cast<size_t>(given.dim()) == wanted.sizes.size();
    if (!is_like) return false;
    for (size_t k = 0; k < wanted.sizes.size(); ++k) {
      const GraphSize& size = wanted.sizes[k];
      const int64_t actual = given.sizes()[k];
      if (size.number && *size.number != actual) return false;
      if (size.name.empty()) continue;
      if (actual < size.min || actual > size.max) return false;
      if (named.try_emplace(size.name, actual).first->second != actual) {
        return false;
      }
    }
  }
  return true;
}

CompiledStep::Output CompiledStep::Run(const std::vector<at::Tensor>& inputs) {
  Parts& parts = *parts_;
  TORCH_CHECK_VALUE(Takes(inputs),
                    "CompiledStep: the library was compiled for inputs of "
                    "another number, type or size. Ask Takes() first, and run "
                    "the interpreted model for the rest");
  TORCH_CHECK_VALUE(!at::autocast::is_autocast_enabled(at::kCPU),
                    "CompiledStep: a library computes in the types that it was "
                    "compiled for, not in low precision; use the backend sp or "
                    "ddp, or the interpreted model");
  if (!parts.ready || !parts.ready->IsUpToDate()) {
    parts.CheckTensors();
    parts.ready.emplace(parts.trained);
  }
  const InsideUnits inside(parts.units);
  std::vector<at::Tensor> all;
  all.reserve(parts.taken.size() + inputs.size());
  for (const at::Tensor& tensor : parts.taken) {
    TORCH_CHECK_VALUE(tensor.is_cpu() && tensor.is_contiguous(),
                      "CompiledStep: the library is for a model on the CPU");
    all.push_back(tensor);
  }
  for (const at::Tensor& input : inputs) all.push_back(input.contiguous());

  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  std::vector<at::Tensor> results =
      parts.library->get_runner()->boxed_run(std::move(all));
  const size_t num_outputs = parts.text.outputs.size();
  const size_t num_gradients = parts.trained.size();
  TORCH_CHECK(
      results.size() == 1 + num_outputs + num_gradients + parts.updated.size(),
      "CompiledStep: the library returned ", results.size(),
      " tensors, not as many as it says");
  // New each time: it gets a gradient function.
  Output output{.loss = ResultMemory().Own(std::move(results[0]))};
  std::vector<at::Tensor> gradients;
  gradients.reserve(num_gradients);
  parts.memory.resize(num_outputs + num_gradients);
  for (size_t i = 0; i < parts.memory.size(); ++i) {
    (i < num_outputs ? output.outputs : gradients)
        .push_back(parts.memory[i].Own(std::move(results[1 + i])));
  }
  for (size_t i = 0; i < parts.updated.size(); ++i) {
    parts.updated[i].copy_(results[1 + parts.memory.size() + i]);
  }
  parts.ready->Attach(output.loss, std::move(gradients));
  return output;
}

absl::StatusOr<std::shared_ptr<CompiledStep>> LoadCompiledStep(
    const std::string& path, std::shared_ptr<Model> model) {
  TORCH_CHECK_VALUE(model != nullptr, "LoadCompiledStep: the model is null");
  using torch::inductor::AOTIModelPackageLoader;
  const auto in_file = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  };
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  }
  auto parts = std::make_unique<CompiledStep::Parts>();
  try {
    const auto metadata =
        AOTIModelPackageLoader::load_metadata_from_package(path, "model");
    absl::StatusOr<StepText> text =
        ParseStepText({metadata.begin(), metadata.end()});
    if (!text.ok()) return in_file(text.status());
    parts->text = *std::move(text);
  } catch (const std::exception& e) {
    return in_file(absl::DataLossError(
        absl::StrCat("is not a compiled step of tools/convert/export_model.py "
                     "--compile: ",
                     ErrorMessage(e))));
  }
  const StepText& text = parts->text;
  if (absl::Status here = CheckRunsHere(text, TORCH_VERSION, CpuFeatures());
      !here.ok()) {
    return in_file(here);
  }
  std::map<std::string, at::Tensor> tensors;
  for (const NamedTensor& item : model->Parameters()) {
    tensors[item.name] = item.tensor;
  }
  for (const NamedTensor& item : model->Buffers()) {
    tensors[item.name] = item.tensor;
  }
  const auto missing = [&](const std::string& name) {
    return in_file(absl::FailedPreconditionError(
        absl::StrCat("the model has no tensor \"", name,
                     "\", or one of another type or shape; the library was "
                     "compiled for another model: ",
                     text.command)));
  };
  try {
    for (const GraphInput& input : text.inputs) {
      const c10::ScalarType type = DtypeNamed(input.dtype);
      if (input.is_passed) {
        parts->passed.push_back({input.name, type, input.sizes});
        continue;
      }
      const at::Tensor& tensor = tensors[input.name];
      bool fits = tensor.defined() && tensor.scalar_type() == type &&
                  static_cast<size_t>(tensor.dim()) == input.sizes.size();
      for (size_t i = 0; fits && i < input.sizes.size(); ++i) {
        fits = tensor.sizes()[i] == input.sizes[i].number;
      }
      if (!fits) return missing(input.name);
      parts->taken.push_back(tensor);
    }
  } catch (const c10::Error& e) {
    return in_file(absl::DataLossError(ErrorMessage(e)));
  }
  for (const std::string& name : text.gradients) {
    if (!tensors[name].defined()) return missing(name);
    parts->trained.push_back(tensors[name]);
  }
  for (const std::string& name : text.buffers) {
    if (!tensors[name].defined()) return missing(name);
    parts->updated.push_back(tensors[name]);
  }
  parts->units = model->Units();
  parts->model = std::move(model);
  try {
    parts->library = std::make_unique<AOTIModelPackageLoader>(
        path, "model", /*run_single_threaded=*/true);
  } catch (const std::exception& e) {
    return in_file(absl::FailedPreconditionError(absl::StrCat(
        "the library cannot be loaded; compile it again: ", text.command, "; ",
        ErrorMessage(e))));
  }
  return std::make_shared<CompiledStep>(std::move(parts));
}

}  // namespace trainyard

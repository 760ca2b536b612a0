#include "trainer/exported/exported_model.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/error_message.h"
#include "trainer/exported/graph_program.h"
#include "trainer/exported/layer_units.h"
#include "trainer/exported/memory_limit.h"
#include "trainer/exported/model_text.h"
#include "trainer/exported/operands.h"
#include "trainer/io/quoted_name.h"

namespace trainyard {
namespace {

// The sizes of inputs that a graph has been run with.
class KnownSizes {
 public:
  bool IsNew(const std::vector<at::Tensor>& inputs) const {
    return !known_.contains(SizesOf(inputs));
  }
  void Add(const std::vector<at::Tensor>& inputs) {
    constexpr size_t kMost = 1000;
    if (known_.size() == kMost) known_.clear();
    known_.insert(SizesOf(inputs));
  }

 private:
  static std::vector<int64_t> SizesOf(const std::vector<at::Tensor>& inputs) {
    std::vector<int64_t> sizes;
    sizes.reserve(4 * inputs.size());
    for (const at::Tensor& input : inputs) {
      sizes.insert(sizes.end(), input.sizes().begin(), input.sizes().end());
    }
    return sizes;
  }
  std::set<std::vector<int64_t>> known_;
};

// One of the two graphs.
struct Mode {
  GraphProgram program;
  // The names of its inputs.
  std::vector<std::string> names;
  // The tensors of the model that it takes, at their places among its inputs;
  // undefined where the caller's are.
  std::vector<at::Tensor> inputs;
  // What the caller passes, and where.
  std::vector<GraphInput> passed;
  std::vector<size_t> places;
  std::vector<std::string> outputs;
  KnownSizes known_sizes = {};
};

using Tensors = std::map<std::string, at::Tensor>;

absl::StatusOr<Mode> MakeMode(Graph graph, const Tensors& tensors,
                              const LayerUnits& units) {
  std::vector<at::Tensor> inputs(graph.inputs.size());
  std::vector<std::string> names;
  std::vector<GraphInput> passed;
  std::vector<size_t> places;
  std::vector<std::string> outputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput& input = graph.inputs[i];
    names.push_back(input.name);
    if (input.is_passed) {
      passed.push_back(input);
      places.push_back(i);
      continue;
    }
    const auto found = tensors.find(input.name);
    if (found == tensors.end()) {
      return absl::DataLossError(absl::StrCat(
          "input ", i, ": the model has no tensor ", QuotedName(input.name)));
    }
    inputs[i] = found->second;
  }
  for (const GraphOutput& output : graph.outputs) {
    outputs.push_back(output.name);
  }
  try {
    for (const GraphInput& input : passed) DtypeNamed(input.dtype);
    std::vector<GraphProgram::Unit> in_units = units.In(graph);
    return Mode{GraphProgram(std::move(graph), std::move(in_units)),
                std::move(names),
                std::move(inputs),
                std::move(passed),
                std::move(places),
                std::move(outputs)};
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(ErrorMessage(error));
  }
}

// Sizes with a name, as the first input that has them.
using Sizes = std::map<std::string_view, std::pair<std::string, int64_t>>;

void CheckInput(const GraphInput& wanted, const at::Tensor& given,
                Sizes& sizes) {
  TORCH_CHECK_VALUE(given.defined(), "ExportedModel: input ", wanted.name,
                    " is undefined");
  const c10::ScalarType type = DtypeNamed(wanted.dtype);
  const bool both_floats =
      c10::isFloatingType(type) && given.is_floating_point();
  TORCH_CHECK_VALUE(both_floats || given.scalar_type() == type,
                    "ExportedModel: input ", wanted.name, " is of type ",
                    given.scalar_type(), "; the model was exported for ", type);
  TORCH_CHECK_VALUE(static_cast<size_t>(given.dim()) == wanted.sizes.size(),
                    "ExportedModel: input ", wanted.name, " has ", given.dim(),
                    " dimensions; the model was exported for ",
                    wanted.sizes.size());
  for (size_t i = 0; i < wanted.sizes.size(); ++i) {
    const GraphSize& size = wanted.sizes[i];
    const int64_t actual = given.size(static_cast<int64_t>(i));
    TORCH_CHECK_VALUE(!size.number || actual == *size.number,
                      "ExportedModel: input ", wanted.name, " has size ",
                      actual, " in dimension ", i,
                      "; the model was exported for ", size.number.value_or(0),
                      ". export_model.py --dynamic lets a size vary");
    if (size.name.empty()) continue;
    TORCH_CHECK_VALUE(actual >= size.min && actual <= size.max,
                      "ExportedModel: input ", wanted.name, " has size ",
                      actual, " in dimension ", i, "; the model takes ",
                      size.min, " to ", size.max);
    const auto [first, is_new] = sizes.try_emplace(
        size.name, absl::StrCat("dimension ", i, " of ", wanted.name), actual);
    TORCH_CHECK_VALUE(is_new || first->second.second == actual,
                      "ExportedModel: input ", wanted.name, " has size ",
                      actual, " in dimension ", i, ", and ",
                      first->second.first, " is ", first->second.second,
                      "; they must be equal");
  }
}

}  // namespace

struct ExportedModel::Parts {
  StateNames names;
  Tensors tensors;  // by name, also the constants
  std::vector<NamedTensor> added;
  std::vector<WeightUse> weights;
  LayerUnits units;
  std::optional<Mode> train, eval;
  bool is_training = true;
  at::Device device = at::kCPU;
  int64_t max_bytes = 0;

  Mode& mode() { return is_training ? *train : *eval; }
  const Mode& mode() const { return is_training ? *train : *eval; }
};

ExportedModel::ExportedModel(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}
ExportedModel::~ExportedModel() = default;

std::vector<at::Tensor> ExportedModel::Run(
    const std::vector<at::Tensor>& inputs) {
  Mode& mode = parts_->mode();
  TORCH_CHECK_VALUE(inputs.size() == mode.passed.size(),
                    "ExportedModel: ", inputs.size(),
                    " inputs are given; the model takes ", mode.passed.size());
  Sizes sizes;
  std::vector<at::Tensor> all = mode.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    CheckInput(mode.passed[i], inputs[i], sizes);
    all[mode.places[i]] = inputs[i];
  }
  // A file's numbers may ask for any amount of memory. A pass with the same
  // sizes takes the same.
  std::optional<MemoryLimit> limit;
  if (mode.known_sizes.IsNew(inputs)) limit.emplace(parts_->max_bytes);
  std::vector<at::Tensor> outputs =
      mode.program.Run(std::move(all), parts_->device);
  if (limit) mode.known_sizes.Add(inputs);
  return outputs;
}

at::Tensor ExportedModel::forward(const at::Tensor& input) {
  const Mode& mode = parts_->mode();
  TORCH_CHECK_VALUE(mode.passed.size() == 1 && mode.outputs.size() == 1,
                    "ExportedModel: forward() is for models of one input and "
                    "one output; this one has ",
                    mode.passed.size(), " and ", mode.outputs.size(),
                    ". Call Run");
  return Run({input})[0];
}

std::vector<std::string> ExportedModel::InputNames() const {
  std::vector<std::string> names;
  for (const GraphInput& input : parts_->mode().passed) {
    names.push_back(input.name);
  }
  return names;
}

std::vector<std::string> ExportedModel::OutputNames() const {
  return parts_->mode().outputs;
}

void ExportedModel::SetTraining(bool training) {
  parts_->is_training = training;
}

bool ExportedModel::is_training() const { return parts_->is_training; }

// As torch::nn::Module::to does it: tensors stay the same objects, so that
// optimizers and averages keep them.
void ExportedModel::To(at::Device device) {
  for (auto& [name, tensor] : parts_->tensors) {
    tensor.set_data(tensor.detach().to(device));
  }
  for (const NamedTensor& item : parts_->added) {
    item.tensor.set_data(item.tensor.detach().to(device));
  }
  parts_->device = device;
}

void ExportedModel::To(at::ScalarType type) {
  TORCH_CHECK_VALUE(c10::isFloatingType(type),
                    "ExportedModel: a model cannot be made of type ", type,
                    "; give a floating-point type");
  for (auto& [name, tensor] : parts_->tensors) {
    if (tensor.is_floating_point()) tensor.set_data(tensor.detach().to(type));
  }
  for (const NamedTensor& item : parts_->added) {
    item.tensor.set_data(item.tensor.detach().to(type));
  }
}

std::vector<NamedTensor> ExportedModel::Parameters() const {
  std::vector<NamedTensor> list;
  for (const auto& item : parts_->names.parameters) {
    list.push_back({item.name, parts_->tensors.at(item.name)});
  }
  list.insert(list.end(), parts_->added.begin(), parts_->added.end());
  return list;
}

std::vector<NamedTensor> ExportedModel::TrainedParameters() const {
  std::vector<NamedTensor> list = Parameters();
  std::erase_if(list, [](const NamedTensor& item) {
    return !item.tensor.requires_grad();
  });
  return list;
}

std::vector<NamedTensor> ExportedModel::Buffers() const {
  std::vector<NamedTensor> list;
  for (const auto& item : parts_->names.buffers) {
    list.push_back({item.name, parts_->tensors.at(item.name)});
  }
  return list;
}

std::vector<UnitTensors> ExportedModel::Units() const {
  return parts_->units.Of(Parameters());
}

std::vector<NamedTensor> ExportedModel::StateDict() const {
  std::vector<NamedTensor> list;
  for (const auto& item : parts_->names.parameters) {
    list.push_back({item.name, parts_->tensors.at(item.name)});
  }
  std::map<std::string, bool> saved;
  for (const auto& item : parts_->names.buffers) {
    saved[item.name] = item.saved;
    if (item.saved) {
      list.push_back({item.name, parts_->tensors.at(item.name)});
    }
  }
  for (const auto& item : parts_->names.tied) {
    const auto buffer = saved.find(item.to);
    if (buffer != saved.end() && !buffer->second) continue;
    list.push_back({item.name, parts_->tensors.at(item.to)});
  }
  return list;
}

const std::vector<WeightUse>& ExportedModel::LayerWeights() const {
  return parts_->weights;
}

void ExportedModel::ComputeWith(const std::string& parameter,
                                const at::Tensor& tensor) {
  const auto& all = parts_->names.parameters;
  TORCH_CHECK_VALUE(
      std::any_of(all.begin(), all.end(),
                  [&](const auto& item) { return item.name == parameter; }),
      "ExportedModel: there is no parameter \"", parameter, "\"");
  TORCH_CHECK_VALUE(tensor.defined() &&
                        tensor.sizes() == parts_->tensors.at(parameter).sizes(),
                    "ExportedModel: what takes the place of \"", parameter,
                    "\" must have its shape, ",
                    parts_->tensors.at(parameter).sizes());
  for (Mode* const mode : {&*parts_->train, &*parts_->eval}) {
    for (size_t i = 0; i < mode->names.size(); ++i) {
      const bool is_own = mode->inputs[i].defined();
      if (is_own && mode->names[i] == parameter) mode->inputs[i] = tensor;
    }
  }
}

void ExportedModel::AddParameter(const std::string& name,
                                 const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.defined(), "ExportedModel: parameter \"", name,
                    "\" is undefined");
  bool is_taken = parts_->tensors.contains(name);
  for (const NamedTensor& item : parts_->added) {
    is_taken = is_taken || item.name == name;
  }
  for (const auto& item : parts_->names.tied) {
    is_taken = is_taken || item.name == name;
  }
  TORCH_CHECK_VALUE(!is_taken, "ExportedModel: there is a \"", name,
                    "\" already");
  parts_->added.push_back({name, tensor});
}

void ExportedModel::RemoveParameter(const std::string& name) {
  std::erase_if(parts_->added,
                [&](const NamedTensor& item) { return item.name == name; });
}

absl::StatusOr<std::shared_ptr<ExportedModel>> LoadExported(
    const std::string& path, const LoadExportedOptions& options) {
  const auto in_file = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  };
  absl::StatusOr<Safetensors> file = ReadSafetensors(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<ModelText> text = ParseModelText(file->metadata);
  if (!text.ok()) return in_file(text.status());

  auto parts = std::make_unique<ExportedModel::Parts>();
  parts->names = std::move(text->state);
  parts->max_bytes = options.max_bytes.value_or(MachineMemory());
  for (NamedTensor& item : file->tensors) {
    parts->tensors[item.name] = std::move(item.tensor);
  }
  const auto missing = [&](const std::string& name) {
    return in_file(absl::DataLossError(
        absl::StrCat("there is no tensor ", QuotedName(name))));
  };
  for (const auto& item : parts->names.parameters) {
    const auto found = parts->tensors.find(item.name);
    if (found == parts->tensors.end()) return missing(item.name);
    if (!item.trained) continue;
    if (!found->second.is_floating_point() && !found->second.is_complex()) {
      return in_file(absl::DataLossError(
          absl::StrCat("parameter ", QuotedName(item.name),
                       " is of a type that has no gradients")));
    }
    found->second.requires_grad_();
  }
  for (const auto& item : parts->names.buffers) {
    if (!parts->tensors.contains(item.name)) return missing(item.name);
  }
  for (const std::string& name : parts->names.constants) {
    if (!parts->tensors.contains(name)) return missing(name);
  }
  parts->weights = WeightUses(text->train);
  std::erase_if(parts->weights, [&](const WeightUse& use) {
    const auto& all = parts->names.parameters;
    return std::none_of(all.begin(), all.end(), [&](const auto& item) {
      return item.name == use.parameter;
    });
  });
  parts->units = LayerUnits(text->train, text->eval);
  absl::StatusOr<Mode> train =
      MakeMode(std::move(text->train), parts->tensors, parts->units);
  if (!train.ok()) {
    return in_file(absl::Status(
        train.status().code(),
        absl::StrCat("training graph: ", train.status().message())));
  }
  absl::StatusOr<Mode> eval =
      MakeMode(std::move(text->eval), parts->tensors, parts->units);
  if (!eval.ok()) {
    return in_file(absl::Status(
        eval.status().code(),
        absl::StrCat("evaluation graph: ", eval.status().message())));
  }
  parts->train.emplace(*std::move(train));
  parts->eval.emplace(*std::move(eval));
  return std::make_shared<ExportedModel>(std::move(parts));
}

}  // namespace trainyard

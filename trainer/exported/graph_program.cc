#include "trainer/exported/graph_program.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "trainer/error_message.h"
#include "trainer/exported/allowed_operators.h"
#include "trainer/exported/operands.h"
#include "trainer/exported/size_ops.h"

namespace trainyard {
namespace {

using Kind = GraphArgument::Kind;

ValueKind KindOfResult(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return ValueKind::kTensor;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return ValueKind::kInt;
    case c10::TypeKind::FloatType:
      return ValueKind::kFloat;
    case c10::TypeKind::BoolType:
      return ValueKind::kBool;
    case c10::TypeKind::ListType:
      if (type.castRaw<c10::ListType>()->getElementType()->kind() ==
          c10::TypeKind::TensorType) {
        return ValueKind::kTensors;
      }
      [[fallthrough]];
    default:
      C10_THROW_ERROR(ValueError, "its result, " + type.str() +
                                      ", is of a type that graphs do not have");
  }
}

c10::OperatorHandle FindOperator(const GraphNode& node) {
  const auto found = c10::Dispatcher::singleton().findSchema(
      c10::OperatorName(node.op, node.overload));
  TORCH_CHECK_VALUE(found || !node.op.starts_with("aten::"),
                    "libtorch has no such operator. Was the model exported "
                    "with another version of PyTorch?");
  TORCH_CHECK_VALUE(found && IsAllowedOperator(node.op, node.overload),
                    "graphs may not call this operator; those that they may "
                    "call are in trainer/exported/allowed_operators.cc");
  return *found;
}

bool Fits(char letter, ValueKind kind) {
  switch (letter) {
    case 't':
      return kind == ValueKind::kTensor;
    case 'l':
      return kind == ValueKind::kTensors;
    case 'i':
      return kind == ValueKind::kInt;
    default:
      return kind == ValueKind::kInt || kind == ValueKind::kFloat ||
             kind == ValueKind::kBool;
  }
}

// Of arithmetic with sizes. Adds the kind of its result to `kinds`.
std::vector<Operand> PrepareSizeOp(const GraphNode& node, const SizeOp& op,
                                   std::vector<ValueKind>& kinds) {
  const std::string_view letters = op.arguments;
  TORCH_CHECK_VALUE(node.args.size() == letters.size() && node.kwargs.empty() &&
                        node.results == 1,
                    "it takes ", letters.size(),
                    " arguments and has one result");
  std::vector<Operand> operands;
  bool is_whole = true;
  for (size_t i = 0; i < letters.size(); ++i) {
    const GraphArgument& given = node.args[i];
    Operand operand;
    ValueKind kind = ValueKind::kInt;
    if (given.kind == Kind::kValue) {
      kind = kinds[static_cast<size_t>(given.whole)];
      operand.kind = Operand::Kind::kValue;
      operand.items = {{.is_value = true, .number = given.whole}};
    } else {
      TORCH_CHECK_VALUE(given.kind == Kind::kInt || given.kind == Kind::kFloat,
                        "argument ", i, " is not a number");
      if (given.kind == Kind::kFloat) kind = ValueKind::kFloat;
      operand =
          ConstantOperand(given.kind == Kind::kInt ? c10::IValue(given.whole)
                                                   : c10::IValue(given.real));
    }
    TORCH_CHECK_VALUE(Fits(letters[i], kind), "argument ", i,
                      " is of the wrong kind");
    is_whole = is_whole && kind == ValueKind::kInt;
    operands.push_back(std::move(operand));
  }
  switch (op.result) {
    case 't':
      kinds.push_back(ValueKind::kTensor);
      break;
    case 'b':
      kinds.push_back(ValueKind::kBool);
      break;
    case 'n':
      kinds.push_back(is_whole ? ValueKind::kInt : ValueKind::kFloat);
      break;
    default:
      kinds.push_back(op.result == 'i' ? ValueKind::kInt : ValueKind::kFloat);
  }
  return operands;
}

// The tensors among these values, and in lists.
std::vector<at::Tensor> TensorsOf(const std::vector<c10::IValue>& values,
                                  const std::vector<size_t>& numbers) {
  std::vector<at::Tensor> tensors;
  for (const size_t number : numbers) {
    const c10::IValue& value = values[number];
    if (value.isTensor()) {
      tensors.push_back(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& item : value.toTensorVector()) {
        tensors.push_back(item);
      }
    }
  }
  return tensors;
}

}  // namespace

struct GraphProgram::Step {
  // One of both.
  std::optional<c10::OperatorHandle> op;
  const SizeOp* size_op = nullptr;

  std::vector<Operand> operands;
  bool gradients = true;
  size_t first_result = 0;
  // For each result, whether anybody uses it.
  std::vector<bool> used = {};

  void Call(std::vector<c10::IValue>& stack) const {
    if (size_op != nullptr) {
      c10::IValue result = size_op->run(stack);
      stack.clear();
      stack.push_back(std::move(result));
    } else if (gradients) {
      op->callBoxed(stack);
    } else {
      const at::NoGradGuard no_gradients;
      op->callBoxed(stack);
    }
  }
};

GraphProgram::GraphProgram(Graph graph, std::vector<Unit> units)
    : graph_(std::move(graph)), units_(std::move(units)) {
  std::vector<ValueKind> kinds(graph_.inputs.size(), ValueKind::kTensor);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[i];
    try {
      Step step{.op = std::nullopt,
                .size_op = FindSizeOp(node.op),
                .operands = {},
                .gradients = node.gradients,
                .first_result = node.first_result};
      if (step.size_op != nullptr) {
        step.operands = PrepareSizeOp(node, *step.size_op, kinds);
      } else {
        step.op = FindOperator(node);
        const c10::FunctionSchema& schema = step.op->schema();
        step.operands = PrepareOperands(node, schema, kinds);
        TORCH_CHECK_VALUE(schema.returns().size() == node.results, "it has ",
                          schema.returns().size(), " results, not ",
                          node.results);
        for (const c10::Argument& result : schema.returns()) {
          kinds.push_back(KindOfResult(*result.type()));
        }
      }
      steps_.push_back(std::move(step));
    } catch (const c10::Error& error) {
      TORCH_CHECK_VALUE(false, NodeName(graph_, i), ": ", ErrorMessage(error));
    }
  }

  std::set<size_t> used_later;
  for (const GraphOutput& output : graph_.outputs) {
    TORCH_CHECK_VALUE(kinds[output.value] == ValueKind::kTensor, "output \"",
                      output.name, "\" is not a tensor");
    used_later.insert(output.value);
  }
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const size_t index =
        steps_.size() - 1 - static_cast<size_t>(step - steps_.rbegin());
    for (size_t i = 0; i < graph_.nodes[index].results; ++i) {
      step->used.push_back(used_later.contains(step->first_result + i));
    }
    for (auto operand = step->operands.rbegin();
         operand != step->operands.rend(); ++operand) {
      for (auto item = operand->items.rbegin(); item != operand->items.rend();
           ++item) {
        if (!item->is_value) continue;
        item->is_last_use =
            used_later.insert(static_cast<size_t>(item->number)).second;
      }
    }
  }
}

void GraphProgram::RunSteps(size_t end, std::vector<c10::IValue>& values,
                            at::Device device, size_t& index) const {
  std::vector<c10::IValue> stack;
  for (; index < end; ++index) {
    const Step& step = steps_[index];
    stack.clear();
    for (const Operand& operand : step.operands) {
      stack.push_back(Load(operand, values, device));
    }
    step.Call(stack);
    for (size_t i = 0; i < step.used.size(); ++i) {
      if (step.used[i]) values[step.first_result + i] = std::move(stack[i]);
    }
  }
}

GraphProgram::GraphProgram(GraphProgram&&) noexcept = default;
GraphProgram::~GraphProgram() = default;

std::vector<at::Tensor> GraphProgram::Run(std::vector<at::Tensor> inputs,
                                          at::Device device) const {
  TORCH_CHECK_VALUE(inputs.size() == graph_.inputs.size(),
                    "GraphProgram: there are ", inputs.size(),
                    " inputs; the graph has ", graph_.inputs.size());
  std::vector<c10::IValue> values;
  values.reserve(graph_.values);
  for (at::Tensor& input : inputs) values.emplace_back(std::move(input));
  values.resize(graph_.values);
  size_t index = 0;
  try {
    for (const Unit& unit : units_) {
      RunSteps(unit.range.first, values, device, index);
      unit.unit->Run(TensorsOf(values, unit.range.inputs), [&] {
        RunSteps(unit.range.last + 1, values, device, index);
        return TensorsOf(values, unit.range.outputs);
      });
    }
    RunSteps(steps_.size(), values, device, index);
  } catch (c10::Error& error) {
    error.add_context("in " + NodeName(graph_, index) +
                      " of an exported model");
    throw;
  }
  std::vector<at::Tensor> outputs;
  for (const GraphOutput& output : graph_.outputs) {
    outputs.push_back(values[output.value].toTensor());
  }
  return outputs;
}

}  // namespace trainyard

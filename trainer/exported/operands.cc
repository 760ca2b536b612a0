#include "trainer/exported/operands.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "trainer/error_message.h"

namespace trainyard {
namespace {

using Kind = GraphArgument::Kind;
using c10::TypeKind;

// Stands for a number where the schema has a tensor, as in Python: `x * 2` is
// of the type of x.
at::Tensor Wrapped(const c10::Scalar& number) {
  at::Tensor tensor = c10::scalar_to_tensor(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

int64_t MemoryFormatNamed(const std::string& name) {
  static constexpr std::pair<const char*, at::MemoryFormat> kFormats[] = {
      {"contiguous_format", at::MemoryFormat::Contiguous},
      {"preserve_format", at::MemoryFormat::Preserve},
      {"channels_last", at::MemoryFormat::ChannelsLast},
      {"channels_last_3d", at::MemoryFormat::ChannelsLast3d}};
  for (const auto& [known, format] : kFormats) {
    if (name == known) return static_cast<int64_t>(format);
  }
  C10_THROW_ERROR(ValueError, "there is no memory format \"" + name + "\"");
}

class Preparer {
 public:
  explicit Preparer(const std::vector<ValueKind>& kinds) : kinds_(kinds) {}

  Operand Prepare(const GraphArgument& given, const c10::Argument& formal) {
    c10::TypePtr type = formal.type();
    if (type->kind() == TypeKind::OptionalType) {
      if (given.kind == Kind::kNone) return {};
      type = type->castRaw<c10::OptionalType>()->getElementType();
    }
    if (type->kind() == TypeKind::ListType) {
      const c10::TypePtr element =
          type->castRaw<c10::ListType>()->getElementType();
      return List(given, *element, formal.N().value_or(1));
    }
    if (given.kind == Kind::kValue) return Value(given, *type);
    if (given.kind == Kind::kDevice) {
      Check(type->kind() == TypeKind::DeviceObjType, *type);
      return {.kind = Operand::Kind::kDevice};
    }
    return ConstantOperand(Constant(given, *type));
  }

 private:
  ValueKind KindOf(const GraphArgument& value) const {
    return kinds_[static_cast<size_t>(value.whole)];
  }
  bool IsValue(const GraphArgument& given, ValueKind kind) const {
    return given.kind == Kind::kValue && KindOf(given) == kind;
  }
  static void Check(bool fits, const c10::Type& type) {
    TORCH_CHECK_VALUE(fits, "it takes ", type.str(), ", and is given another");
  }

  Operand Value(const GraphArgument& given, const c10::Type& type) const {
    Operand operand{.kind = Operand::Kind::kValue,
                    .items = {{.is_value = true, .number = given.whole}}};
    const ValueKind kind = KindOf(given);
    const bool is_number =
        kind != ValueKind::kTensor && kind != ValueKind::kTensors;
    switch (type.kind()) {
      case TypeKind::TensorType:
        Check(kind != ValueKind::kTensors, type);
        if (is_number) operand.kind = Operand::Kind::kWrapped;
        return operand;
      case TypeKind::NumberType:
        Check(is_number, type);
        return operand;
      case TypeKind::IntType:
      case TypeKind::SymIntType:
        Check(kind == ValueKind::kInt, type);
        return operand;
      case TypeKind::FloatType:
        Check(kind == ValueKind::kFloat, type);
        return operand;
      case TypeKind::BoolType:
        Check(kind == ValueKind::kBool, type);
        return operand;
      default:
        Check(false, type);
        return operand;
    }
  }

  static bool IsNumber(const GraphArgument& given) {
    return given.kind == Kind::kInt || given.kind == Kind::kFloat ||
           given.kind == Kind::kBool;
  }
  static c10::Scalar Number(const GraphArgument& given) {
    if (given.kind == Kind::kFloat) return c10::Scalar(given.real);
    if (given.kind == Kind::kBool) return c10::Scalar(given.whole != 0);
    return c10::Scalar(given.whole);
  }

  static c10::IValue Constant(const GraphArgument& given,
                              const c10::Type& type) {
    switch (type.kind()) {
      case TypeKind::TensorType:
        Check(IsNumber(given), type);
        return Wrapped(Number(given));
      case TypeKind::NumberType:
        Check(IsNumber(given), type);
        return Number(given);
      case TypeKind::IntType:
      case TypeKind::SymIntType:
        if (given.kind == Kind::kDtype) {
          return static_cast<int64_t>(DtypeNamed(given.text));
        }
        if (given.kind == Kind::kLayout) {
          return static_cast<int64_t>(c10::kStrided);
        }
        if (given.kind == Kind::kMemoryFormat) {
          return MemoryFormatNamed(given.text);
        }
        Check(given.kind == Kind::kInt || given.kind == Kind::kBool, type);
        return given.whole;
      case TypeKind::FloatType:
        Check(IsNumber(given), type);
        return Number(given).toDouble();
      case TypeKind::BoolType:
        Check(given.kind == Kind::kBool, type);
        return given.whole != 0;
      case TypeKind::StringType:
        Check(given.kind == Kind::kText, type);
        return given.text;
      default:
        Check(false, type);
        return {};
    }
  }

  // One number stands for `count` of them.
  Operand List(const GraphArgument& given, const c10::Type& element,
               int32_t count) {
    if (given.kind == Kind::kList) return ListOf(given.items, element);
    if (given.kind == Kind::kValue && KindOf(given) == ValueKind::kTensors) {
      Check(element.kind() == TypeKind::TensorType, element);
      return {.kind = Operand::Kind::kValue,
              .items = {{.is_value = true, .number = given.whole}}};
    }
    const bool is_scalar = IsNumber(given) || given.kind == Kind::kValue;
    Check(is_scalar && count >= 1 && count <= 8, element);
    return ListOf(std::vector<GraphArgument>(static_cast<size_t>(count), given),
                  element);
  }

  Operand ListOf(const std::vector<GraphArgument>& given,
                 const c10::Type& element) {
    switch (element.kind()) {
      case TypeKind::IntType:
      case TypeKind::SymIntType:
        return Ints(given, element);
      case TypeKind::TensorType:
      case TypeKind::OptionalType:
        return Tensors(given, element);
      case TypeKind::FloatType: {
        c10::List<double> list;
        for (const GraphArgument& item : given) {
          list.push_back(Constant(item, element).toDouble());
        }
        return ConstantOperand(list);
      }
      case TypeKind::BoolType: {
        c10::List<bool> list;
        for (const GraphArgument& item : given) {
          list.push_back(Constant(item, element).toBool());
        }
        return ConstantOperand(list);
      }
      default:
        Check(false, element);
        return {};
    }
  }

  Operand Ints(const std::vector<GraphArgument>& given,
               const c10::Type& element) const {
    Operand operand{.kind = Operand::Kind::kInts};
    bool is_constant = true;
    for (const GraphArgument& item : given) {
      const bool is_value = item.kind == Kind::kValue;
      Check(is_value ? KindOf(item) == ValueKind::kInt
                     : item.kind == Kind::kInt || item.kind == Kind::kBool,
            element);
      is_constant = is_constant && !is_value;
      operand.items.push_back({.is_value = is_value, .number = item.whole});
    }
    if (!is_constant) return operand;
    std::vector<c10::IValue> no_values;
    return ConstantOperand(Load(operand, no_values, c10::kCPU));
  }

  Operand Tensors(const std::vector<GraphArgument>& given,
                  const c10::Type& element) const {
    const bool optional = element.kind() == TypeKind::OptionalType;
    if (optional) {
      const auto& inner =
          *element.castRaw<c10::OptionalType>()->getElementType();
      Check(inner.kind() == TypeKind::TensorType, element);
    }
    Operand operand{.kind = optional ? Operand::Kind::kOptionalTensors
                                     : Operand::Kind::kTensors};
    for (const GraphArgument& item : given) {
      const bool is_tensor = IsValue(item, ValueKind::kTensor);
      Check(is_tensor || (optional && item.kind == Kind::kNone), element);
      operand.items.push_back({.is_value = is_tensor, .number = item.whole});
    }
    return operand;
  }

  const std::vector<ValueKind>& kinds_;
};

c10::IValue Take(const Operand::Item& item, std::vector<c10::IValue>& values) {
  c10::IValue& value = values[static_cast<size_t>(item.number)];
  return item.is_last_use ? std::move(value) : value;
}

}  // namespace

Operand ConstantOperand(c10::IValue value) {
  return {.constant = std::make_shared<const c10::IValue>(std::move(value))};
}

std::vector<Operand> PrepareOperands(const GraphNode& node,
                                     const c10::FunctionSchema& schema,
                                     const std::vector<ValueKind>& kinds) {
  const std::vector<c10::Argument>& formals = schema.arguments();
  TORCH_CHECK_VALUE(node.args.size() <= formals.size(), "it takes ",
                    formals.size(), " arguments, and is given ",
                    node.args.size());
  std::vector<const GraphArgument*> given(formals.size(), nullptr);
  for (size_t i = 0; i < node.args.size(); ++i) given[i] = &node.args[i];
  for (const auto& [name, argument] : node.kwargs) {
    const auto index = schema.argumentIndexWithName(name);
    TORCH_CHECK_VALUE(index.has_value(), "it has no argument \"", name, "\"");
    TORCH_CHECK_VALUE(given[static_cast<size_t>(*index)] == nullptr,
                      "argument \"", name, "\" is given twice");
    given[static_cast<size_t>(*index)] = &argument;
  }
  Preparer preparer(kinds);
  std::vector<Operand> operands;
  for (size_t i = 0; i < formals.size(); ++i) {
    if (given[i] == nullptr) {
      TORCH_CHECK_VALUE(formals[i].default_value().has_value(), "argument \"",
                        formals[i].name(), "\" is missing");
      operands.push_back(ConstantOperand(*formals[i].default_value()));
      continue;
    }
    try {
      operands.push_back(preparer.Prepare(*given[i], formals[i]));
    } catch (const c10::Error& error) {
      TORCH_CHECK_VALUE(false, "argument \"", formals[i].name(),
                        "\": ", ErrorMessage(error));
    }
  }
  return operands;
}

c10::IValue Load(const Operand& operand, std::vector<c10::IValue>& values,
                 c10::Device device) {
  switch (operand.kind) {
    case Operand::Kind::kConstant:
      return operand.constant == nullptr ? c10::IValue() : *operand.constant;
    case Operand::Kind::kValue:
      return Take(operand.items[0], values);
    case Operand::Kind::kWrapped:
      return Wrapped(Take(operand.items[0], values).toScalar());
    case Operand::Kind::kDevice:
      return device;
    case Operand::Kind::kInts: {
      c10::List<int64_t> list;
      list.reserve(operand.items.size());
      for (const Operand::Item& item : operand.items) {
        list.push_back(item.is_value ? Take(item, values).toInt()
                                     : item.number);
      }
      return list;
    }
    case Operand::Kind::kTensors: {
      c10::List<at::Tensor> list;
      list.reserve(operand.items.size());
      for (const Operand::Item& item : operand.items) {
        list.push_back(Take(item, values).toTensor());
      }
      return list;
    }
    case Operand::Kind::kOptionalTensors: {
      c10::List<std::optional<at::Tensor>> list;
      list.reserve(operand.items.size());
      for (const Operand::Item& item : operand.items) {
        if (item.is_value) {
          list.push_back(Take(item, values).toTensor());
        } else {
          list.push_back(std::nullopt);
        }
      }
      return list;
    }
  }
  return {};
}

c10::ScalarType DtypeNamed(const std::string& name) {
  const auto& types = c10::getStringToDtypeMap();
  const auto found = types.find(name);
  TORCH_CHECK_VALUE(found != types.end(), "there is no type \"", name, "\"");
  return found->second;
}

}  // namespace trainyard

// Operands are the arguments of a node, prepared once: constants in the types
// of the operator's schema, and the numbers of the values that are computed.
//
//   step.operands = PrepareOperands(node, schema, kinds);
//   for (const Operand& operand : step.operands) {
//     stack.push_back(Load(operand, values, device));
//
// Thread-safe once prepared.
#ifndef TRAINYARD_TRAINER_EXPORTED_OPERANDS_H_
#define TRAINYARD_TRAINER_EXPORTED_OPERANDS_H_

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/exported/graph.h"

namespace c10 {
struct FunctionSchema;
struct IValue;
}  // namespace c10

namespace trainyard {

// What a value of a graph is.
enum class ValueKind : uint8_t { kTensor, kTensors, kInt, kFloat, kBool };

struct Operand {
  enum class Kind : uint8_t {
    kConstant,
    kValue,
    kWrapped,  // a number, as a tensor that does not decide types
    kDevice,
    kInts,  // lists in which values are
    kTensors,
    kOptionalTensors,
  };
  struct Item {
    bool is_value = false;
    bool is_last_use = false;
    // Of a value, its number.
    int64_t number = 0;
  };

  Kind kind = Kind::kConstant;
  // Null for None.
  std::shared_ptr<const c10::IValue> constant = nullptr;
  // One for a value, several for a list.
  std::vector<Item> items = {};
};

Operand ConstantOperand(c10::IValue value);

// One for each argument of the schema. `kinds` are those of all values before
// the node. Throws c10::ValueError, naming the argument, for what the operator
// does not take.
std::vector<Operand> PrepareOperands(const GraphNode& node,
                                     const c10::FunctionSchema& schema,
                                     const std::vector<ValueKind>& kinds);

// Takes a value out of `values` at its last use.
c10::IValue Load(const Operand& operand, std::vector<c10::IValue>& values,
                 c10::Device device);

// Python's name of a type, e.g. "float32". Throws c10::ValueError.
c10::ScalarType DtypeNamed(const std::string& name);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_OPERANDS_H_

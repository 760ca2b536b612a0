// SizeOp is arithmetic with sizes, for which ATen has no operators: "sym::size"
// of a tensor, "sym::mul" of two numbers, and "list::get" of a list of tensors.
//
//   if (const SizeOp* op = FindSizeOp("sym::mul")) {
//     const c10::IValue product = op->run({3, 4});
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_EXPORTED_SIZE_OPS_H_
#define TRAINYARD_TRAINER_EXPORTED_SIZE_OPS_H_

#include <string>
#include <vector>

namespace c10 {
struct IValue;
}  // namespace c10

namespace trainyard {

struct SizeOp {
  // Its arguments, one letter each: 't' a tensor, 'l' a list of tensors, 'n' a
  // number, 'i' a whole number.
  const char* arguments;
  // 't', 'i', 'f' (a number with a fraction), 'b' (true or false), or 'n': an
  // 'i' if all arguments are, otherwise an 'f'.
  char result;
  // Throws c10::ValueError for results that do not fit 64 bits, a division by
  // zero, and an index that is out of range.
  c10::IValue (*run)(const std::vector<c10::IValue>& arguments);
};

// Null if there is none.
const SizeOp* FindSizeOp(const std::string& name);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_SIZE_OPS_H_

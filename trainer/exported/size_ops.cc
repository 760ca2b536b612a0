#include "trainer/exported/size_ops.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace trainyard {
namespace {

using Arguments = std::vector<c10::IValue>;

bool AreWhole(const Arguments& x) {
  return std::all_of(x.begin(), x.end(),
                     [](const c10::IValue& v) { return v.isInt(); });
}

double Real(const c10::IValue& x) { return x.toScalar().toDouble(); }

void CheckFits(bool overflow) {
  TORCH_CHECK_VALUE(!overflow, "a size does not fit 64 bits");
}

c10::IValue Add(const Arguments& x) {
  if (!AreWhole(x)) return Real(x[0]) + Real(x[1]);
  int64_t result = 0;
  CheckFits(__builtin_add_overflow(x[0].toInt(), x[1].toInt(), &result));
  return result;
}

c10::IValue Sub(const Arguments& x) {
  if (!AreWhole(x)) return Real(x[0]) - Real(x[1]);
  int64_t result = 0;
  CheckFits(__builtin_sub_overflow(x[0].toInt(), x[1].toInt(), &result));
  return result;
}

c10::IValue Mul(const Arguments& x) {
  if (!AreWhole(x)) return Real(x[0]) * Real(x[1]);
  int64_t result = 0;
  CheckFits(__builtin_mul_overflow(x[0].toInt(), x[1].toInt(), &result));
  return result;
}

c10::IValue Neg(const Arguments& x) {
  if (!AreWhole(x)) return -Real(x[0]);
  return Sub({int64_t{0}, x[0]});
}

void CheckDivisor(const c10::IValue& x) {
  TORCH_CHECK_VALUE(Real(x) != 0, "a size is divided by zero");
}

// Rounds down, as Python does.
c10::IValue FloorDiv(const Arguments& x) {
  CheckDivisor(x[1]);
  if (!AreWhole(x)) return std::floor(Real(x[0]) / Real(x[1]));
  const int64_t a = x[0].toInt(), b = x[1].toInt();
  CheckFits(a == std::numeric_limits<int64_t>::min() && b == -1);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Has the sign of the divisor, as in Python.
c10::IValue Mod(const Arguments& x) {
  CheckDivisor(x[1]);
  if (!AreWhole(x)) {
    return Real(x[0]) - std::floor(Real(x[0]) / Real(x[1])) * Real(x[1]);
  }
  const int64_t a = x[0].toInt(), b = x[1].toInt();
  if (b == -1) return int64_t{0};
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

c10::IValue TrueDiv(const Arguments& x) {
  CheckDivisor(x[1]);
  return Real(x[0]) / Real(x[1]);
}

c10::IValue Max(const Arguments& x) {
  if (!AreWhole(x)) return std::max(Real(x[0]), Real(x[1]));
  return std::max(x[0].toInt(), x[1].toInt());
}

c10::IValue Min(const Arguments& x) {
  if (!AreWhole(x)) return std::min(Real(x[0]), Real(x[1]));
  return std::min(x[0].toInt(), x[1].toInt());
}

c10::IValue Truncate(const Arguments& x) {
  const c10::IValue& number = x[0];
  if (number.isInt()) return number;
  const double real = std::trunc(Real(number));
  CheckFits(!(std::abs(real) < 9.2e18));
  return static_cast<int64_t>(real);
}

c10::IValue Size(const Arguments& x) {
  return x[0].toTensor().size(x[1].toInt());
}

c10::IValue Get(const Arguments& x) {
  const auto list = x[0].toTensorList();
  const int64_t index = x[1].toInt();
  TORCH_CHECK_VALUE(index >= 0 && static_cast<size_t>(index) < list.size(),
                    "item ", index, " of a list of ", list.size());
  return list.get(static_cast<size_t>(index));
}

}  // namespace

const SizeOp* FindSizeOp(const std::string& name) {
  static const std::map<std::string, SizeOp> ops = {
      {"list::get", {"li", 't', Get}},
      {"sym::size", {"ti", 'i', Size}},
      {"sym::numel",
       {"t", 'i',
        [](const Arguments& x) -> c10::IValue {
          return x[0].toTensor().numel();
        }}},
      {"sym::add", {"nn", 'n', Add}},
      {"sym::sub", {"nn", 'n', Sub}},
      {"sym::mul", {"nn", 'n', Mul}},
      {"sym::neg", {"n", 'n', Neg}},
      {"sym::floordiv", {"nn", 'n', FloorDiv}},
      {"sym::mod", {"nn", 'n', Mod}},
      {"sym::max", {"nn", 'n', Max}},
      {"sym::min", {"nn", 'n', Min}},
      {"sym::truediv", {"nn", 'f', TrueDiv}},
      {"sym::float",
       {"n", 'f',
        [](const Arguments& x) -> c10::IValue { return Real(x[0]); }}},
      {"sym::int", {"n", 'i', Truncate}},
      {"sym::eq",
       {"nn", 'b',
        [](const Arguments& x) -> c10::IValue {
          return Real(x[0]) == Real(x[1]);
        }}},
      {"sym::ne",
       {"nn", 'b',
        [](const Arguments& x) -> c10::IValue {
          return Real(x[0]) != Real(x[1]);
        }}},
      {"sym::lt",
       {"nn", 'b',
        [](const Arguments& x) -> c10::IValue {
          return Real(x[0]) < Real(x[1]);
        }}},
      {"sym::le",
       {"nn", 'b',
        [](const Arguments& x) -> c10::IValue {
          return Real(x[0]) <= Real(x[1]);
        }}},
      {"sym::gt",
       {"nn", 'b',
        [](const Arguments& x) -> c10::IValue {
          return Real(x[0]) > Real(x[1]);
        }}},
      {"sym::ge",
       {"nn", 'b',
        [](const Arguments& x) -> c10::IValue {
          return Real(x[0]) >= Real(x[1]);
        }}},
  };
  const auto found = ops.find(name);
  return found == ops.end() ? nullptr : &found->second;
}

}  // namespace trainyard

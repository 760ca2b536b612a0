// FieldSpec describes a field of an optimizer: a number among its options that
// a group may override and a schedule may set, with the range of its initial
// values.
//
//   const FieldSpec momentum{"momentum", 0.9, kBelowOne};
//   momentum.Check("SGD", 1.5);  // throws, naming optimizer, field and value
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_OPTIM_FIELD_SPEC_H_
#define TRAINYARD_TRAINER_OPTIM_FIELD_SPEC_H_

#include <limits>
#include <string>

namespace trainyard {

// The finite values from `least` to `most`, with or without the ends.
struct FieldRange {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool without_least = false;
  bool without_most = false;
};

inline constexpr FieldRange kNotNegative = {};
inline constexpr FieldRange kAboveZero = {.without_least = true};
inline constexpr FieldRange kBelowOne = {.most = 1, .without_most = true};

struct FieldSpec {
  std::string name;
  // The value of a group that does not override it.
  double value;
  FieldRange range = kNotNegative;

  // Throws c10::ValueError if `group_value` is outside the range.
  void Check(const std::string& optimizer, double group_value) const;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_FIELD_SPEC_H_

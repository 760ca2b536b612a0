// A number among an optimizer's options, which a group may override and a
// schedule may set, and the values it may start from.
//
//   const FieldSpec momentum{"momentum", 0.9, kBelowOne};
//   momentum.Check("SGD", 1.5);  // throws, naming optimizer, field and value
#ifndef TRAINYARD_TRAINER_OPTIM_FIELD_SPEC_H_
#define TRAINYARD_TRAINER_OPTIM_FIELD_SPEC_H_

#include <limits>
#include <string>

namespace trainyard {

// Values from `least` to `most`; the ends belong to it unless said otherwise.
// Infinities and what is not a number never do.
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
  // What a group has unless it overrides it.
  double value;
  FieldRange range = kNotNegative;

  // Throws c10::ValueError if `group_value` is out of range.
  void Check(const std::string& optimizer, double group_value) const;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_FIELD_SPEC_H_

// The operators that a graph may call: a closed list, because a graph may
// be hostile. They compute tensors from tensors; none opens files, prints,
// or takes arguments on trust that could make it read or write past a tensor.
// Free of libtorch.
//
//   EXPECT_TRUE(IsAllowedOperator("aten::add", "Tensor"));
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_EXPORTED_ALLOWED_OPERATORS_H_
#define TRAINYARD_TRAINER_EXPORTED_ALLOWED_OPERATORS_H_

#include <string_view>

namespace trainyard {

// `op` with its namespace. The variant that writes to its argument ("add_") is
// allowed with the plain one ("add"), the variant that writes to a passed
// tensor (overload "out") never.
bool IsAllowedOperator(std::string_view op, std::string_view overload);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_ALLOWED_OPERATORS_H_

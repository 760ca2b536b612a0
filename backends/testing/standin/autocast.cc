// Mixed precision: the operators that CUDA casts to half precision, to float,
// or to the widest of their inputs.
#include <ATen/Functions.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

#include "backends/testing/standin/kernels.h"

namespace trainyard::standin {
namespace {

// clang-format off
void AddCasts(torch::Library& m) {
  using at::IntArrayRef;
  using at::ScalarType;
  using at::Scalar;
  using at::Tensor;
#define YARD_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define YARD_FLOAT(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define YARD_TYPED(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define YARD_WIDEST(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(YARD_LOWER)
  AT_FORALL_FP32(YARD_FLOAT)
  AT_FORALL_FP32_SET_OPT_DTYPE(YARD_TYPED)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(
      KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(YARD_WIDEST)
#undef YARD_LOWER
#undef YARD_FLOAT
#undef YARD_TYPED
#undef YARD_WIDEST
}
// clang-format on

}  // namespace

void RegisterAutocast() {
  using torch::Library;
  const auto key = c10::DispatchKey::AutocastPrivateUse1;
  static auto& all = *new Library(Library::IMPL, "_", key, __FILE__, __LINE__);
  all.fallback(torch::CppFunction::makeFallthrough());
  static auto& aten =
      *new Library(Library::IMPL, "aten", key, __FILE__, __LINE__);
  AddCasts(aten);
}

}  // namespace trainyard::standin

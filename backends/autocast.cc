#include "backends/autocast.h"

#include <ATen/autocast_mode.h>
#include <c10/util/Exception.h>

namespace trainyard {

Autocast::Autocast(c10::DeviceType device, c10::ScalarType dtype, bool enabled)
    : device_(device),
      enabled_before_(at::autocast::is_autocast_enabled(device)),
      dtype_before_(at::autocast::get_autocast_dtype(device)) {
  TORCH_CHECK_VALUE(dtype == at::kBFloat16 || dtype == at::kHalf,
                    "Autocast: dtype is ", dtype, ", not BFloat16 or Half");
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, dtype);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  // The outermost one forgets the casts of weights: they are about to change.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(device_, dtype_before_);
  at::autocast::set_autocast_enabled(device_, enabled_before_);
}

}  // namespace trainyard

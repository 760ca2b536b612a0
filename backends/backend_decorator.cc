#include "backends/backend_decorator.h"

#include <c10/util/Exception.h>

#include <utility>

namespace trainyard {

BackendDecorator::BackendDecorator(std::unique_ptr<Backend> backend)
    : backend_(std::move(backend)) {
  TORCH_CHECK_VALUE(backend_ != nullptr,
                    "BackendDecorator: there is no backend to decorate");
}

}  // namespace trainyard

#include "trainer/data/batch.h"

#include <c10/util/Type.h>

namespace trainyard {

std::string AnyBatch::TypeName(const std::type_info& type) {
  return c10::demangle(type.name());
}

}  // namespace trainyard

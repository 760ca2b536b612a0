#include "trainer/checkpoint/state_crc32c.h"

#include <string>

#include "trainer/io/crc32c.h"

namespace trainyard {

uint32_t StateCrc32c(const std::vector<NamedTensor>& state, uint32_t crc) {
  for (const NamedTensor& item : state) {
    std::string header =
        item.name + " " + c10::toString(item.tensor.scalar_type());
    for (const int64_t size : item.tensor.sizes())
      header += " " + std::to_string(size);
    crc = Crc32c(header.data(), header.size() + 1,
                 crc);  // with its final zero, so that no two run together
    const at::Tensor bytes = item.tensor.detach().cpu().contiguous();
    crc = Crc32c(bytes.data_ptr(), bytes.nbytes(), crc);
  }
  return crc;
}

}  // namespace trainyard

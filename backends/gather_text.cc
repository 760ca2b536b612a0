#include "backends/gather_text.h"

#include <ATen/ops/empty.h>

#include <cstdint>
#include <cstring>

namespace trainyard {

std::vector<std::string> GatherText(Collectives& collectives,
                                    const std::string& text,
                                    Collectives::Place place) {
  at::Tensor bytes = at::empty({static_cast<int64_t>(text.size())}, at::kByte);
  if (!text.empty()) {
    std::memcpy(bytes.mutable_data_ptr<uint8_t>(), text.data(), text.size());
  }
  std::vector<std::string> all;
  for (const at::Tensor& item : collectives.AllGather(bytes, place)) {
    const auto* bytes_of =
        reinterpret_cast<const char*>(item.const_data_ptr<uint8_t>());
    all.emplace_back(bytes_of, item.numel());
  }
  return all;
}

}  // namespace trainyard

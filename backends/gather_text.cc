#include "backends/gather_text.h"

#include <ATen/ops/empty.h>

#include <cstdint>
#include <cstring>

namespace trainyard {

std::vector<std::string> GatherText(Collectives& collectives,
                                    const std::string& mine,
                                    Collectives::Place place) {
  at::Tensor bytes = at::empty({static_cast<int64_t>(mine.size())}, at::kByte);
  if (!mine.empty()) {
    std::memcpy(bytes.mutable_data_ptr<uint8_t>(), mine.data(), mine.size());
  }
  std::vector<std::string> all;
  for (const at::Tensor& item : collectives.AllGather(bytes, place)) {
    const auto* text =
        reinterpret_cast<const char*>(item.const_data_ptr<uint8_t>());
    all.emplace_back(text, item.numel());
  }
  return all;
}

}  // namespace trainyard

// Fuzzes the index of shards.
#include <cstdlib>

#include "trainer/checkpoint/format/shard_index.h"
#include "trainer/checkpoint/fuzz/fuzz_entry.h"

namespace trainyard {

void FuzzOne(std::string_view bytes) {
  const auto index = ParseShardIndex(bytes);
  if (!index.ok()) return;
  const auto again = ParseShardIndex(FormatShardIndex(*index));
  if (!again.ok() || again->weight_map != index->weight_map) std::abort();
}

}  // namespace trainyard

// Fuzzes the manifest. The input is the message; a valid frame is put around
// it, because otherwise only the checksum would be tested.
#include <cstdlib>

#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/manifest.h"
#include "trainer/checkpoint/fuzz/fuzz_entry.h"

namespace trainyard {

void FuzzOne(std::string_view bytes) {
  (void)ParseManifest(bytes).status();
  const auto manifest = ParseManifest(Framed(kManifestMagic, bytes));
  if (!manifest.ok()) return;
  const auto written = FormatManifest(*manifest);
  if (!written.ok() || !ParseManifest(*written).ok()) std::abort();
}

}  // namespace trainyard

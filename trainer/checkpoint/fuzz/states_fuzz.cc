// Fuzzes the states of parts. As with the manifest, a valid frame is added.
#include <cstdlib>

#include "trainer/checkpoint/format/frame.h"
#include "trainer/checkpoint/format/states.h"
#include "trainer/checkpoint/fuzz/fuzz_entry.h"

namespace trainyard {

void FuzzOne(std::string_view bytes) {
  (void)ParseStates(bytes).status();
  const auto states = ParseStates(Framed(kStatesMagic, bytes));
  if (!states.ok()) return;
  const auto written = FormatStates(states->parts, states->save_uuid);
  if (!written.ok()) std::abort();
  const auto again = ParseStates(*written);
  if (!again.ok() || again->parts.size() != states->parts.size()) std::abort();
}

}  // namespace trainyard

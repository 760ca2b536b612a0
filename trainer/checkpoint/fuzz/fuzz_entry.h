// FuzzOne is what a fuzz target defines: one attempt. It must accept any bytes,
// and aborts the process if an invariant is broken.
//
//   void FuzzOne(std::string_view bytes) {
//     (void)ParseManifest(bytes).status();
//     …
//   }
//
// tools/faults/fuzz.py links it with libFuzzer; the ordinary tests replay the
// corpus. Free of libtorch.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FUZZ_FUZZ_ENTRY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FUZZ_FUZZ_ENTRY_H_

#include <string_view>

namespace trainyard {

void FuzzOne(std::string_view bytes);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FUZZ_FUZZ_ENTRY_H_

// What a fuzz target defines: one try. Any bytes must do; whatever must never
// be is an abort. Linked with libFuzzer by tools/faults/fuzz.py, and with a
// main that replays the corpus by the ordinary tests. Free of libtorch.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_FUZZ_FUZZ_ENTRY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_FUZZ_FUZZ_ENTRY_H_

#include <string_view>

namespace trainyard {

void FuzzOne(std::string_view bytes);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_CHECKPOINT_FUZZ_FUZZ_ENTRY_H_

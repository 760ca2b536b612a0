// CompiledSupervised trains a model like Supervised, but computes loss and
// gradients of training batches by a compiled library:
//
//   auto model = OrThrow(LoadExported("net.safetensors"));
//   AdamW optimizer(*model);
//   auto step = OrThrow(LoadCompiledStep("net.pt2", model));
//   Trainer trainer(CompiledSupervised(model, step, CrossEntropy()), optimizer,
//                   *backend);
//
// Batches of sizes that the library was not compiled for (often the last one
// of an epoch), and evaluation, run the interpreted graphs. Dropout in the
// library draws other random numbers than the interpreted graph; both follow
// the seed.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_EXPORTED_COMPILED_TASK_H_
#define TRAINYARD_TRAINER_EXPORTED_COMPILED_TASK_H_

#include <memory>

#include "trainer/exported/compiled_step.h"
#include "trainer/exported/exported_model.h"
#include "trainer/losses.h"
#include "trainer/supervised.h"
#include "trainer/task.h"

namespace trainyard {

// `loss` must be the one that the library was compiled with: the first batch
// throws c10::ValueError if the two differ.
std::unique_ptr<Task> CompiledSupervised(std::shared_ptr<ExportedModel> model,
                                         std::shared_ptr<CompiledStep> step,
                                         OutputsAndTarget loss,
                                         NamedMetrics metrics = {});

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_EXPORTED_COMPILED_TASK_H_

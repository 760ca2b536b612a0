#include "finetuning/ema.h"

namespace trainyard {

Ema::Ema(const AveragedTensors& model, const EmaDecayOptions& options,
         std::optional<at::Device> device)
    : ModelAverage("Ema", model, device), decay_(options) {}

void Ema::Update() { MoveTowardsModel(1 - decay_.At(CountUpdate())); }

}  // namespace trainyard

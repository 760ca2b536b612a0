#include "callbacks/weights/model_ema.h"

#include <stdexcept>
#include <utility>

#include "backends/whole_parameters.h"
#include "trainer/model/tensor_match.h"
#include "trainer/or_throw.h"

namespace trainyard {

ModelEma::ModelEma(const AveragedTensors& model, ModelEmaOptions options)
    : options_(std::move(options)),
      model_(model.tensors),
      ema_(std::make_unique<Ema>(model, options_.decay)) {
  if (options_.prefix.empty()) {
    throw std::invalid_argument("ModelEma: prefix is empty");
  }
}

void ModelEma::OnRunStart(const RunStart& e, Control&) {
  backend_ = &e.backend;
  updates_ = e.clock.updates();
  const WholeParameters whole(*backend_);
  if (!e.resumed) ema_->Reset();
}

// Of several optimizers each has one, and the last decides: only a late one
// comes after all of them, and before the next update.
void ModelEma::OnUpdateEnd(const UpdateEnd& e, Control&) {
  if (e.late) Follow(e.clock);
}

void ModelEma::OnStepEnd(const StepEnd& e, Control&) { Follow(e.clock); }

void ModelEma::Follow(const RunClock& clock) {
  if (clock.updates() == updates_) return;
  updates_ = clock.updates();
  const WholeParameters whole(*backend_);
  ema_->Update();
}

void ModelEma::OnRunEnd(const RunEnd& e, Control&) {
  if (!options_.apply_at_end || e.ending == RunEnding::kError) return;
  const WholeParameters whole(*backend_);
  OrThrow(LoadTensors(ema_->NamedTensors(), model_));
  backend_->ParametersLoaded();
}

State ModelEma::SaveState() const { return ema_->SaveState(); }

void ModelEma::LoadState(const State& state) { ema_->LoadState(state); }

void ModelEma::Enter() { swap_ = std::make_unique<Ema::Swap>(*ema_); }

void ModelEma::Leave() { swap_.reset(); }

}  // namespace trainyard

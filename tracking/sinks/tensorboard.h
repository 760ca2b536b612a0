// TensorBoard writes records to an event file that the tensorboard program
// reads: numbers, histograms, images, texts, and hyperparameters.
//
//   auto sink = MakeTensorBoard("run/tensorboard");
//   // tensorboard --logdir=run
//
// One file per run, also of a resumed one: it is cut back to the checkpoint and
// goes on. A file cut at any byte can be read up to there.
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_TENSORBOARD_H_
#define TRAINYARD_TRACKING_SINKS_TENSORBOARD_H_

#include <memory>
#include <string>

#include "tracking/sinks/sink.h"

namespace trainyard {

// Of the file in its folder.
inline constexpr char kEventFileName[] = "events.out.tfevents.trainyard";

std::unique_ptr<Sink> MakeTensorBoard(const std::string& folder);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_TENSORBOARD_H_

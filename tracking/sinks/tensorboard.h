// The TensorBoard sink writes records to an event file that the tensorboard
// program reads: numbers, histograms, images, texts and hyperparameters.
//
//   auto sink = MakeTensorBoard(folder + "/tensorboard");
//
// `tensorboard --logdir=FOLDER` shows it. A run has one file, also when it is
// resumed: the file is truncated to its length at the checkpoint. A file cut at
// any byte can be read up to there.
//
// Thread-compatible.
#ifndef TRAINYARD_TRACKING_SINKS_TENSORBOARD_H_
#define TRAINYARD_TRACKING_SINKS_TENSORBOARD_H_

#include <memory>
#include <string>

#include "tracking/sinks/sink.h"

namespace trainyard {

// The file's name in its folder.
inline constexpr char kEventFileName[] = "events.out.tfevents.trainyard";

std::unique_ptr<Sink> MakeTensorBoard(const std::string& folder);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_TENSORBOARD_H_

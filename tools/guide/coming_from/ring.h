// What all programs of this folder train: whether a point of the plane lies in
// a ring. Data and initial weights are formulas; ring.py makes the same ones.
//
//   torch::nn::Sequential net = MakeRingNet();
//   AdamW optimizer(*net, {.lr = kRingRate});
//   …
//   ReportRing(*net);
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_GUIDE_COMING_FROM_RING_H_
#define TRAINYARD_TOOLS_GUIDE_COMING_FROM_RING_H_

#include <torch/nn/modules/container/sequential.h>

#include <cstdint>

#include "trainer/data/dataset.h"
#include "trainer/data/load_options.h"

namespace trainyard {

inline constexpr int64_t kRingEpochs = 3;
inline constexpr int64_t kRingBatch = 64;
inline constexpr double kRingRate = 1e-2;

// Examples for training, 4096, and for evaluation, 1024.
DatasetPtr RingTrainData();
DatasetPtr RingEvalData();

// Trains in the order of the data instead of a new one in each epoch: the order
// of Python's generator cannot be had here.
LoadOptions InRingOrder();

torch::nn::Sequential MakeRingNet();

// Prints the losses of the final weights.
void ReportRing(torch::nn::SequentialImpl& net);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_GUIDE_COMING_FROM_RING_H_

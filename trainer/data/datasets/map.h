// A dataset whose batches are changed on the way out, by a function of the
// batch and, if it takes them, of random numbers: one source per row, which
// depends on the seed, the epoch and the sample alone.
//
//   MapBatches<Example>(data, [](Example e) {
//     return Example{e.input.to(at::kFloat), e.target};
//   });
//   MapBatches<Example>(
//       data,
//       [](Example e, BatchRandom& random) {
//         return Example{RandomFlip(e.input, {}, random), e.target};
//       },
//       /*seed=*/1);
//
// The function may give a batch of another type. A sample that comes twice in
// an epoch (by weight) is changed alike both times.
//
// Thread-safe, if the function is.
#ifndef TRAINYARD_TRAINER_DATA_DATASETS_MAP_H_
#define TRAINYARD_TRAINER_DATA_DATASETS_MAP_H_

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/data/dataset.h"
#include "trainer/data/transforms/batch_random.h"

namespace trainyard {

// As MapBatches, on any batch. `random` is empty unless wanted.
using AnyBatchFunction = std::function<AnyBatch(AnyBatch, BatchRandom& random)>;
DatasetPtr MapAnyBatches(DatasetPtr data, AnyBatchFunction function,
                         uint64_t seed, bool wants_random);

template <BatchType B, class Function>
DatasetPtr MapBatches(DatasetPtr data, Function function, uint64_t seed = 0) {
  constexpr bool kRandom = std::is_invocable_v<Function&, B, BatchRandom&>;
  return MapAnyBatches(
      std::move(data),
      [function = std::move(function)](AnyBatch batch, BatchRandom& random) {
        B typed = batch.As<B>();
        if constexpr (kRandom) {
          return AnyBatch(function(std::move(typed), random));
        } else {
          return AnyBatch(function(std::move(typed)));
        }
      },
      seed, kRandom);
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_DATASETS_MAP_H_

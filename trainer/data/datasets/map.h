// MapBatches applies a function to every batch of a dataset. A function with a
// second parameter also receives random numbers: one generator per row, which
// depends on the seed, the epoch and the sample only.
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
// The function may return another batch type. A sample that occurs twice in an
// epoch (WeightedSampler) is changed in the same way both times.
//
// Thread-safe if the function is.
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

// MapBatches without the type. `random` is empty unless `wants_random`.
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

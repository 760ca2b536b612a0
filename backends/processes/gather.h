// Gather puts the rows of all processes together, in rank order: predictions of
// a distributed evaluation, say.
//
//   const at::Tensor all = Gather(collectives, predictions);
//
// Processes may have different numbers of rows: no padding is needed. Whoever
// pads all the same names the value, and gets back what is not padding:
//
//   Gather(collectives, padded, {.padding_value = -100});
//
// Collective: all ranks must call them. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_PROCESSES_GATHER_H_
#define TRAINYARD_BACKENDS_PROCESSES_GATHER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "backends/collectives.h"
#include "trainer/data/batch.h"

namespace trainyard {

struct GatherOptions {
  // Rows of nothing but this value are left out of the result.
  std::optional<double> padding_value = std::nullopt;
};

// On the tensor's device. A scalar counts as a row. REQUIRES: tensors of the
// same type, and the same shape but for their rows.
at::Tensor Gather(Collectives& collectives, const at::Tensor& tensor,
                  const GatherOptions& options = {});

// On the CPU, so that a device need not hold the rows of all processes at once:
// `rows_at_once` of each process, or all of them if it is 0.
at::Tensor GatherToCpu(Collectives& collectives, const at::Tensor& tensor,
                       int64_t rows_at_once = 0);

// Of batches, tuples, lists and maps of tensors, however nested: each tensor
// gathered in its place.
template <class T>
std::vector<T> Gather(Collectives& collectives, const std::vector<T>& list,
                      const GatherOptions& options = {});
template <class T>
std::map<std::string, T> Gather(Collectives& collectives,
                                const std::map<std::string, T>& map,
                                const GatherOptions& options = {});
template <class... T>
std::tuple<T...> Gather(Collectives& collectives, const std::tuple<T...>& tuple,
                        const GatherOptions& options = {});
template <BatchType B>
B Gather(Collectives& collectives, B batch, const GatherOptions& options = {});

// ---- Only code of the templates below

template <class T>
std::vector<T> Gather(Collectives& collectives, const std::vector<T>& list,
                      const GatherOptions& options) {
  std::vector<T> all;
  for (const T& each : list) all.push_back(Gather(collectives, each, options));
  return all;
}

template <class T>
std::map<std::string, T> Gather(Collectives& collectives,
                                const std::map<std::string, T>& map,
                                const GatherOptions& options) {
  std::map<std::string, T> all;
  for (const auto& [name, each] : map) {
    all.emplace(name, Gather(collectives, each, options));
  }
  return all;
}

template <class... T>
std::tuple<T...> Gather(Collectives& collectives, const std::tuple<T...>& tuple,
                        const GatherOptions& options) {
  return std::apply(
      [&](const T&... each) {
        // In braces: from left to right, the same on all ranks.
        return std::tuple<T...>{Gather(collectives, each, options)...};
      },
      tuple);
}

template <BatchType B>
B Gather(Collectives& collectives, B batch, const GatherOptions& options) {
  ForEachTensor(batch,
                [&](auto& each) { each = Gather(collectives, each, options); });
  return batch;
}

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_PROCESSES_GATHER_H_

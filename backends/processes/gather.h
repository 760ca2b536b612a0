// Gather concatenates the rows of all ranks in rank order, for example the
// predictions of a distributed evaluation.
//
//   const at::Tensor all = Gather(collectives, predictions);
//
// Ranks may have different numbers of rows: no padding is needed. If rows are
// padded all the same, name the value, and rows that consist of it are dropped:
//
//   Gather(collectives, padded, {.padding_value = -100});
//
// Collective: all ranks must call the same. Thread-compatible.
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
  // Rows that consist of this value are dropped from the result. Unset: none.
  std::optional<double> padding_value = std::nullopt;
};

// The result is on the tensor's device. A scalar counts as a row. REQUIRES: the
// same type and shape on all ranks, except the number of rows.
at::Tensor Gather(Collectives& collectives, const at::Tensor& tensor,
                  const GatherOptions& options = {});

// The result is on the CPU. Gathers `rows_at_once` rows of each rank at a time,
// so that a device need not hold the rows of all ranks. Unset: all of them.
at::Tensor GatherToCpu(Collectives& collectives, const at::Tensor& tensor,
                       std::optional<int64_t> rows_at_once = std::nullopt);

// Gathers each tensor of a batch, tuple, list or map of tensors, also nested.
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

// Implementation only below.

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
        // Braces evaluate from left to right, the same on all ranks.
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

// What every optimizer's test checks: that it makes the numbers Python's makes,
// that it refuses bad options by name, and that it keeps Optimizer's contract.
//
//   TEST(LionTest, SameAsPython) {
//     ExpectSameAsPython<Lion>("lion", "plain", LionOptions{.lr = 0.003});
//   }
//   TEST(LionTest, KeepsTheContract) { ExpectContract<Lion>(LionOptions{}); }
#ifndef TRAINYARD_TRAINER_OPTIM_TESTING_OPTIMIZER_TESTING_H_
#define TRAINYARD_TRAINER_OPTIM_TESTING_OPTIMIZER_TESTING_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "trainer/optim/optimizer.h"
#include "trainer/optim/param_groups.h"

namespace trainyard {

using MakeOptimizer =
    std::function<std::unique_ptr<Optimizer>(const ParamGroups&)>;

// How far numbers may be from Python's, relative to a tensor's largest.
struct GoldenTolerance {
  double float64 = 1e-9;
  double float32 = 1e-6;
};

// Repeats a case of testdata/<file>.txt in both types and compares parameters
// on the way and the state at the end.
void ExpectGolden(const std::string& file, const std::string& name,
                  const MakeOptimizer& make,
                  const GoldenTolerance& tolerance = {});

// Gradients divided are smaller gradients; parameters without a gradient stay
// with their state; a state loaded elsewhere goes on bit for bit.
void ExpectContractOf(const MakeOptimizer& make);

template <typename O, typename Options>
MakeOptimizer Maker(const Options& options) {
  return [options](const ParamGroups& groups) {
    return std::make_unique<O>(groups, options);
  };
}

template <typename O, typename Options>
void ExpectSameAsPython(const std::string& file, const std::string& name,
                        const Options& options,
                        const GoldenTolerance& tolerance = {}) {
  ExpectGolden(file, name, Maker<O>(options), tolerance);
}

template <typename O, typename Options>
void ExpectContract(const Options& options) {
  ExpectContractOf(Maker<O>(options));
}

// A parameter to try options on.
at::Tensor TestParameter();

template <typename O, typename Options>
void ExpectRefused(const Options& options, const std::string& why) {
  try {
    const O optimizer({TestParameter()}, options);
    ADD_FAILURE() << "accepted, in spite of: " << why;
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what_without_backtrace(), ::testing::HasSubstr(why));
  }
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_TESTING_OPTIMIZER_TESTING_H_

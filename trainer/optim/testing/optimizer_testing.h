// The tests of every optimizer: it computes the same numbers as Python's, it
// rejects bad options by name, and it keeps Optimizer's contract.
//
//   TEST(LionTest, KeepsTheContract) {
//     ExpectContract<Lion>(LionOptions{.weight_decay = 0.1});
//   }
//
// Thread-compatible.
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

// The maximum difference from Python's numbers, relative to the largest element
// of the tensor.
struct GoldenTolerance {
  double float64 = 1e-9;
  double float32 = 1e-6;
};

// Runs a case of testdata/<file>.txt in float64 and float32, and compares the
// parameters during the run and the state at its end.
void ExpectGolden(const std::string& file, const std::string& name,
                  const MakeOptimizer& make,
                  const GoldenTolerance& tolerance = {});

// Checks that StepDivided equals step with divided gradients, that parameters
// without a gradient keep their value and state, and that an optimizer with a
// loaded state continues bit for bit.
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

// Returns a parameter for tests of options.
at::Tensor TestParameter();

template <typename O, typename Options>
void ExpectRefused(const Options& options, const std::string& why) {
  try {
    const O optimizer({TestParameter()}, options);
    ADD_FAILURE() << "accepted, but expected: " << why;
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what_without_backtrace(), ::testing::HasSubstr(why));
  }
}

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_OPTIM_TESTING_OPTIMIZER_TESTING_H_

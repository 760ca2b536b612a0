#include "trainer/optim/testing/optimizer_testing.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "trainer/optim/testing/golden_file.h"

namespace trainyard {
namespace {

constexpr int kUpdates = 200;

// The generator of tools/golden/optimizers.py: multiples of 2^-24 in
// [-0.5, 0.5).
class Generator {
 public:
  at::Tensor Make(at::IntArrayRef sizes, at::ScalarType type) {
    std::vector<double> values(c10::multiply_integers(sizes));
    for (double& value : values) {
      state_ = state_ * 1664525U + 1013904223U;
      value = (state_ >> 8) / 16777216.0 - 0.5;
    }
    return at::from_blob(values.data(), sizes, at::kDouble)
        .to(type, false, true);
  }

 private:
  uint32_t state_ = 1;
};

// A noisy quadratic in two groups of parameters.
class Problem {
 public:
  Problem(const std::vector<OptimizerGoldenCase::Param>& params,
          at::ScalarType type, bool skips)
      : type_(type), skips_(skips) {
    for (const OptimizerGoldenCase::Param& param : params) {
      at::Tensor start = generator_.Make(param.sizes, type);
      at::Tensor target = generator_.Make(param.sizes, type);
      at::Tensor curvature = generator_.Make(param.sizes, type).add_(1);
      terms_.push_back({param.name, param.group, start.requires_grad_(),
                        std::move(target), std::move(curvature)});
    }
  }

  ParamGroups Groups(const std::map<std::string, double>& overrides) const {
    std::vector<ParamGroup> groups(2);
    for (const Term& term : terms_) {
      groups[term.group].params.push_back({term.name, term.param});
    }
    groups[1].overrides = overrides;
    return groups;
  }

  void SetGradients(int update) {
    const at::NoGradGuard no_gradients;
    for (const Term& term : terms_) {
      const at::Tensor noise =
          generator_.Make(term.param.sizes(), type_).mul_(0.25);
      const bool absent = skips_ && term.name == "d" && update % 7 == 3;
      term.param.mutable_grad() =
          absent ? at::Tensor()
                 : term.param.sub(term.target).mul_(term.curvature).add_(noise);
    }
  }

  at::Tensor param(const std::string& name) const {
    for (const Term& term : terms_) {
      if (term.name == name) return term.param;
    }
    return {};
  }

  // Copies the parameters of another problem.
  void CopyFrom(const Problem& other) {
    const at::NoGradGuard no_gradients;
    generator_ = other.generator_;
    for (size_t i = 0; i < terms_.size(); ++i) {
      terms_[i].param.copy_(other.terms_[i].param);
    }
  }

  void ExpectEqual(const Problem& other) const { ExpectClose(other, 0); }

  void ExpectClose(const Problem& other, double tolerance) const {
    for (size_t i = 0; i < terms_.size(); ++i) {
      EXPECT_TRUE(at::allclose(terms_[i].param, other.terms_[i].param,
                               tolerance, tolerance))
          << terms_[i].name << ": " << terms_[i].param << " and "
          << other.terms_[i].param;
    }
  }

 private:
  struct Term {
    std::string name;
    size_t group;
    at::Tensor param, target, curvature;
  };
  Generator generator_;
  at::ScalarType type_;
  bool skips_;
  std::vector<Term> terms_;
};

// float64: relative to each element. float32: relative to the largest element
// of the tensor, because an element near 0 is the difference of larger ones.
void ExpectNear(const at::Tensor& actual, const std::vector<double>& golden,
                double tolerance, const std::string& what) {
  ASSERT_TRUE(actual.defined()) << what << " is not there";
  ASSERT_EQ(actual.numel(), static_cast<int64_t>(golden.size())) << what;
  const at::Tensor values = actual.detach().to(at::kDouble).contiguous();
  double largest = 0;
  for (const double value : golden)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < golden.size(); ++i) {
    const double scale =
        actual.scalar_type() == at::kDouble ? std::abs(golden[i]) : largest;
    EXPECT_NEAR(values.data_ptr<double>()[i], golden[i], tolerance * scale)
        << what << ", element " << i;
  }
}

void RunGolden(const OptimizerGoldenCase& golden, const MakeOptimizer& make,
               double tolerance) {
  const auto type = golden.dtype == "float32" ? at::kFloat : at::kDouble;
  Problem problem(golden.params, type, golden.skips);
  const auto optimizer = make(problem.Groups(golden.overrides));
  const double lr[] = {optimizer->Field(0, "lr"), optimizer->Field(1, "lr")};
  for (int update = 0; update < kUpdates; ++update) {
    for (const size_t group : {0, 1}) {
      optimizer->Field(group, "lr") = lr[group] * (1 - update / 400.0);
    }
    problem.SetGradients(update);
    optimizer->step();
    const auto checkpoint = golden.checkpoints.find(update + 1);
    if (checkpoint == golden.checkpoints.end()) continue;
    for (const auto& [name, values] : checkpoint->second) {
      ExpectNear(problem.param(name), values, tolerance,
                 name + " after update " + std::to_string(update + 1));
    }
  }
  std::map<std::string, at::Tensor> state;
  for (const NamedTensor& item : optimizer->NamedTensors()) {
    state[item.name] = item.tensor;
  }
  for (const auto& [name, values] : golden.state) {
    // With a larger tolerance than parameters: averages of noise are small.
    ExpectNear(state[name], values, 10 * tolerance, name);
  }
}

const std::vector<OptimizerGoldenCase::Param> kMatrices = {
    {"a", 0, {4, 3}}, {"b", 0, {2, 2}}, {"c", 1, {2, 4}}, {"d", 1, {3, 3}}};

Problem TestProblem() { return Problem(kMatrices, at::kFloat, /*skips=*/true); }

}  // namespace

void ExpectGolden(const std::string& file, const std::string& name,
                  const MakeOptimizer& make, const GoldenTolerance& tolerance) {
  int found = 0;
  for (const OptimizerGoldenCase& golden :
       ReadGoldenFile("trainer/optim/testdata/" + file + ".txt")) {
    if (golden.name != name) continue;
    SCOPED_TRACE(name + " " + golden.dtype);
    ++found;
    RunGolden(
        golden, make,
        golden.dtype == "float32" ? tolerance.float32 : tolerance.float64);
  }
  EXPECT_EQ(found, 2) << "cases of that name";
}

namespace {

void ExpectSameState(const std::vector<NamedTensor>& a,
                     const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    // Bytes of libtorch's own format, which hold addresses.
    if (a[i].name == "archive") continue;
    EXPECT_TRUE(at::equal(a[i].tensor, b[i].tensor)) << a[i].name;
  }
}

}  // namespace

void ExpectContractOf(const MakeOptimizer& make) {
  // A power of two, so the division is exact.
  Problem plain = TestProblem(), divided = TestProblem();
  const auto small = make(plain.Groups({})), large = make(divided.Groups({}));
  for (int update = 0; update < 10; ++update) {
    plain.SetGradients(update);
    divided.SetGradients(update);
    for (const at::Tensor& gradient : large->Gradients()) gradient.mul_(8);
    small->step();
    large->StepDivided(at::full({}, 8.0F));
  }
  // Not bit for bit: the kernel that divides may be another one.
  plain.ExpectClose(divided, 1e-6);

  Problem resumed = TestProblem();
  const auto other = make(resumed.Groups({}));
  resumed.CopyFrom(plain);
  other->LoadTensors(small->NamedTensors());
  for (int update = 10; update < 20; ++update) {
    plain.SetGradients(update);
    resumed.SetGradients(update);
    small->step();
    other->step();
  }
  plain.ExpectEqual(resumed);

  // No gradients, no change.
  small->ZeroGrad();
  small->step();
  plain.ExpectEqual(resumed);
  ExpectSameState(other->NamedTensors(), small->NamedTensors());

  // A group that is added is trained like one of the constructor.
  Problem at_once = TestProblem(), one_by_one = TestProblem();
  const auto whole = make(at_once.Groups({}));
  const std::vector<ParamGroup> groups = one_by_one.Groups({}).groups();
  const auto grown = make(std::vector<ParamGroup>{groups[0]});
  grown->AddGroup(groups[1]);
  for (int update = 0; update < 10; ++update) {
    at_once.SetGradients(update);
    one_by_one.SetGradients(update);
    whole->step();
    grown->step();
  }
  at_once.ExpectEqual(one_by_one);
  ExpectSameState(whole->NamedTensors(), grown->NamedTensors());
}

at::Tensor TestParameter() { return at::ones({2, 2}).requires_grad_(); }

}  // namespace trainyard

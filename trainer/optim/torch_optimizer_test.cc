// Needs torch/nn: libtorch's optimizers include it.
#include "trainer/optim/torch_optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/testing/error_of.h"
#include "trainer/optim/testing/optimizer_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Inner, class Options>
MakeOptimizer Wrapped(const Options& options) {
  return [options](const ParamGroups& groups) {
    std::vector<torch::optim::OptimizerParamGroup> torch_groups;
    for (const ParamGroup& group : groups.groups()) {
      std::vector<at::Tensor> tensors;
      for (const NamedTensor& param : group.params)
        tensors.push_back(param.tensor);
      torch_groups.emplace_back(tensors);
    }
    auto optimizer = std::make_unique<TorchOptimizer>(
        std::make_unique<Inner>(torch_groups, options), groups);
    for (size_t i = 0; i < groups.groups().size(); ++i) {
      for (const auto& [field, value] : groups.groups()[i].overrides)
        optimizer->Field(i, field) = value;
    }
    return optimizer;
  };
}

torch::optim::SGDOptions Sgd() {
  return torch::optim::SGDOptions(0.05).weight_decay(0.01);
}
torch::optim::AdamOptions AdamSettings() {
  return torch::optim::AdamOptions(0.01).betas({0.8, 0.99}).eps(1e-6);
}
torch::optim::AdamWOptions AdamWSettings() {
  return torch::optim::AdamWOptions(0.01).betas({0.8, 0.99}).eps(1e-6);
}
torch::optim::RMSpropOptions RmsProp() {
  return torch::optim::RMSpropOptions(0.01).alpha(0.9).eps(1e-6);
}
torch::optim::AdagradOptions AdagradSettings() {
  return torch::optim::AdagradOptions(0.1)
      .lr_decay(0.01)
      .weight_decay(0.01)
      .initial_accumulator_value(0.2)
      .eps(1e-6);
}

TEST(TorchOptimizerTest, SgdIsPythons) {
  using torch::optim::SGD;
  ExpectGolden("sgd", "plain", Wrapped<SGD>(Sgd()));
  ExpectGolden("sgd", "momentum", Wrapped<SGD>(Sgd().momentum(0.9)));
  ExpectGolden("sgd", "nesterov",
               Wrapped<SGD>(Sgd().momentum(0.8).nesterov(true)));
  ExpectGolden("sgd", "dampening",
               Wrapped<SGD>(Sgd().momentum(0.9).dampening(0.4)));
}

TEST(TorchOptimizerTest, AdamIsPythons) {
  using torch::optim::Adam;
  ExpectGolden("adam", "plain",
               Wrapped<Adam>(AdamSettings().weight_decay(0.02)));
  ExpectGolden("adam", "amsgrad", Wrapped<Adam>(AdamSettings().amsgrad(true)));
}

TEST(TorchOptimizerTest, AdamWIsPythons) {
  using torch::optim::AdamW;
  ExpectGolden("adamw", "plain",
               Wrapped<AdamW>(AdamWSettings().weight_decay(0.02)));
  ExpectGolden("adamw", "amsgrad",
               Wrapped<AdamW>(AdamWSettings().amsgrad(true)));
}

TEST(TorchOptimizerTest, RmsPropIsPythons) {
  using torch::optim::RMSprop;
  ExpectGolden("rmsprop", "plain", Wrapped<RMSprop>(RmsProp()));
  ExpectGolden("rmsprop", "momentum",
               Wrapped<RMSprop>(RmsProp().momentum(0.7)));
  ExpectGolden("rmsprop", "centered",
               Wrapped<RMSprop>(RmsProp().momentum(0.5).centered(true)));
}

TEST(TorchOptimizerTest, AdagradIsPythons) {
  ExpectGolden("adagrad", "decay",
               Wrapped<torch::optim::Adagrad>(AdagradSettings()));
}

TEST(TorchOptimizerTest, KeepsTheContract) {
  namespace optim = torch::optim;
  ExpectContractOf(Wrapped<optim::SGD>(Sgd()));
  ExpectContractOf(Wrapped<optim::SGD>(Sgd().momentum(0.9).dampening(0.5)));
  ExpectContractOf(Wrapped<optim::Adam>(AdamSettings().amsgrad(true)));
  ExpectContractOf(Wrapped<optim::AdamW>(AdamWSettings().amsgrad(true)));
  ExpectContractOf(
      Wrapped<optim::RMSprop>(RmsProp().momentum(0.5).centered(true)));
  ExpectContractOf(Wrapped<optim::Adagrad>(AdagradSettings()));
}

// A user's own, by libtorch's conventions.
struct SignumOptions
    : public torch::optim::OptimizerCloneableOptions<SignumOptions> {
  explicit SignumOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr);

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
  }
  double get_lr() const override { return lr(); }
  void set_lr(const double lr) override { this->lr(lr); }
};

struct SignumParamState
    : public torch::optim::OptimizerCloneableParamState<SignumParamState> {
  TORCH_ARG(at::Tensor, momentum);

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(at::Tensor, momentum);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(momentum);
  }
};

class UnsavedSignum : public torch::optim::Optimizer {
 public:
  UnsavedSignum(const std::vector<torch::optim::OptimizerParamGroup>& groups,
                const SignumOptions& options)
      : Optimizer(groups, std::make_unique<SignumOptions>(options)) {}

  at::Tensor step(LossClosure = nullptr) override {
    const at::NoGradGuard no_gradients;
    for (auto& group : param_groups_) {
      const double lr = group.options().get_lr();
      for (at::Tensor& param : group.params()) {
        if (!param.grad().defined()) continue;
        auto& state = state_[param.unsafeGetTensorImpl()];
        if (state == nullptr) {
          auto made = std::make_unique<SignumParamState>();
          made->momentum(param.grad().clone());
          state = std::move(made);
        }
        at::Tensor& momentum =
            static_cast<SignumParamState&>(*state).momentum();
        momentum.mul_(0.9).add_(param.grad(), 0.1);
        param.sub_(momentum.sign(), lr);
      }
    }
    return {};
  }
};

class Signum final : public UnsavedSignum {
 public:
  using UnsavedSignum::UnsavedSignum;
  void save(torch::serialize::OutputArchive& archive) const override {
    serialize(*this, archive);
  }
  void load(torch::serialize::InputArchive& archive) override {
    serialize(*this, archive);
  }

 private:
  template <class Self, class Archive>
  static void serialize(Self& self, Archive& archive) {
    _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Signum);
  }
};

TEST(TorchOptimizerTest, AnOwnClassKeepsTheContract) {
  ExpectContractOf(Wrapped<Signum>(SignumOptions(0.05)));
}

TEST(TorchOptimizerTest, OptionsOfAnOwnClassAreNotPartOfItsState) {
  const at::Tensor w = TestParameter();
  const auto slow = Wrapped<Signum>(SignumOptions(0.01))({w});
  const auto fast = Wrapped<Signum>(SignumOptions(0.5))({w});
  fast->LoadTensors(slow->NamedTensors());
  w.mutable_grad() = at::ones({2, 2});
  fast->step();
  EXPECT_TRUE(at::equal(w, at::ones({2, 2}).sub_(0.5)));
}

TEST(TorchOptimizerTest, AnOwnClassThatCannotBeSavedIsAnError) {
  const at::Tensor w = TestParameter();
  const auto optimizer = Wrapped<UnsavedSignum>(SignumOptions(0.1))({w});
  EXPECT_NO_THROW(optimizer->NamedTensors())
      << "nothing is lost before an update";
  w.mutable_grad() = at::ones({2, 2});
  optimizer->step();
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] { optimizer->NamedTensors(); }),
              HasSubstr("UnsavedSignum: its state cannot be saved, because the "
                        "class does not override save and load"));
}

TEST(TorchOptimizerTest, AForeignArchiveIsRefusedAndChangesNothing) {
  const at::Tensor w = TestParameter();
  const auto optimizer = Wrapped<Signum>(SignumOptions(0.1))({w});
  w.mutable_grad() = at::ones({2, 2});
  optimizer->step();
  const at::Tensor before = optimizer->NamedTensors()[0].tensor;
  EXPECT_THAT(ErrorOf<c10::ValueError>([&] {
                optimizer->LoadTensors({{"archive", at::ones({9}, at::kByte)}});
              }),
              HasSubstr("Signum: the state does not fit"));
  EXPECT_THAT(ErrorOf<c10::ValueError>(
                  [&] { optimizer->LoadTensors({{"w/step", at::ones({})}}); }),
              HasSubstr("1 missing:\n  archive\n1 unexpected:\n  w/step"));
  EXPECT_TRUE(at::equal(optimizer->NamedTensors()[0].tensor, before));
}

TEST(TorchOptimizerTest, FieldsAreTheNumbersOfTheOptions) {
  const auto names = [](const MakeOptimizer& make) {
    const auto optimizer = make({TestParameter()});
    std::vector<std::string> fields;
    for (const auto& [name, value] : optimizer->Fields(0))
      fields.push_back(name);
    return fields;
  };
  EXPECT_THAT(names(Wrapped<torch::optim::SGD>(Sgd())),
              ElementsAre("lr", "momentum", "dampening", "weight_decay"));
  EXPECT_THAT(names(Wrapped<torch::optim::Adam>(AdamSettings())),
              ElementsAre("lr", "beta1", "beta2", "eps", "weight_decay"));
  EXPECT_THAT(names(Wrapped<Signum>(SignumOptions(1))), ElementsAre("lr"));
}

// Groups of the wrapped optimizer come with their own values.
TEST(TorchOptimizerTest, TakesGroupsAndTheirOptions) {
  const at::Tensor body = TestParameter(), head = TestParameter();
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<at::Tensor>{body},
                      std::make_unique<torch::optim::SGDOptions>(0.25));
  groups.emplace_back(std::vector<at::Tensor>{head});
  TorchOptimizer optimizer(std::make_unique<torch::optim::SGD>(
                               groups, torch::optim::SGDOptions(0.5)),
                           {{.params = {{"head", head}, {"body", body}}}});
  EXPECT_EQ(optimizer.num_groups(), 2U);
  EXPECT_EQ(optimizer.Field(0, "lr"), 0.25);
  EXPECT_EQ(optimizer.InitialField(1, "lr"), 0.5);
  body.mutable_grad() = at::ones({2, 2});
  head.mutable_grad() = at::ones({2, 2});
  optimizer.step();
  EXPECT_EQ(body[0][0].item<double>(), 0.75);
  EXPECT_EQ(head[0][0].item<double>(), 0.5);
}

TEST(TorchOptimizerTest, StateHasTheParametersNames) {
  const at::Tensor w = TestParameter(), unused = TestParameter();
  TorchOptimizer optimizer(std::make_unique<torch::optim::SGD>(
                               std::vector<at::Tensor>{w, unused},
                               torch::optim::SGDOptions(0.1).momentum(0.9)),
                           {{.params = {{"w", w}, {"unused", unused}}}});
  w.mutable_grad() = at::ones({2, 2});
  optimizer.step();
  std::vector<std::string> names;
  for (const NamedTensor& item : optimizer.NamedTensors())
    names.push_back(item.name);
  EXPECT_THAT(names, ElementsAre("unused/made", "w/made", "w/momentum_buffer"));

  std::vector<NamedTensor> state = optimizer.NamedTensors();
  state.back().tensor = at::ones({3});
  state.push_back({"v/made", at::ones({})});
  EXPECT_THAT(
      ErrorOf<c10::ValueError>([&] { optimizer.LoadTensors(state); }),
      HasSubstr("torch::optim::SGD: the saved tensors do not fit:\n"
                "1 unexpected:\n  v/made\n"
                "1 different:\n  w/momentum_buffer: saved as [3], wanted as "
                "[2, 2]"));
  EXPECT_EQ(optimizer.NamedTensors().size(), 3U) << "nothing changed";
}

// As a learning rate finder does: back to before the first update.
TEST(TorchOptimizerTest, AnEmptyStateUndoesAllUpdates) {
  const at::Tensor w = TestParameter();
  const auto optimizer = Wrapped<torch::optim::SGD>(Sgd().momentum(0.9))({w});
  const std::vector<NamedTensor> fresh = optimizer->NamedTensors();
  w.mutable_grad() = at::ones({2, 2});
  optimizer->step();
  optimizer->LoadTensors(fresh);
  EXPECT_EQ(optimizer->NamedTensors().size(), 1U);
}

TEST(TorchOptimizerTest, FrozenParametersNeedNoName) {
  const at::Tensor w = TestParameter(), frozen = at::ones({2, 2});
  auto sgd = std::make_unique<torch::optim::SGD>(
      std::vector<at::Tensor>{frozen, w}, torch::optim::SGDOptions(0.1));
  TorchOptimizer optimizer(std::move(sgd), {{.params = {{"w", w}}}});
  EXPECT_TRUE(optimizer.Trains(w));
  EXPECT_FALSE(optimizer.Trains(frozen));
}

TEST(TorchOptimizerTest, RejectsWhatItCannotWrap) {
  const at::Tensor w = TestParameter(), other = TestParameter();
  const auto error_of = [&](std::unique_ptr<torch::optim::Optimizer> inner) {
    return ErrorOf<c10::ValueError>([&] {
      TorchOptimizer(std::move(inner), {{.params = {{"other", other}}}});
    });
  };
  EXPECT_THAT(error_of(nullptr), HasSubstr("inner is null"));
  EXPECT_THAT(
      error_of(std::make_unique<torch::optim::SGD>(
          std::vector<at::Tensor>{other, w}, torch::optim::SGDOptions(0.1))),
      HasSubstr("parameter 1 of group 0 of torch::optim::SGD has no "
                "name"));
  EXPECT_THAT(error_of(std::make_unique<torch::optim::LBFGS>(
                  std::vector<at::Tensor>{other})),
              HasSubstr("use trainyard::LBFGS"));
}

}  // namespace
}  // namespace trainyard

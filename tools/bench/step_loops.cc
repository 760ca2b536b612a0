#include "tools/bench/step_loops.h"

#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "backends/make_backend.h"
#include "schedulers/cosine.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

constexpr int64_t kBatch = 32, kIn = 32, kHidden = 64, kOut = 10,
                  kBatches = 200;
constexpr double kLr = 1e-3, kClip = 1.0;

class MlpImpl : public torch::nn::Module {
 public:
  MlpImpl() : fc1(kIn, kHidden), fc2(kHidden, kHidden), fc3(kHidden, kOut) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }
  at::Tensor forward(const at::Tensor& x) {
    return fc3->forward(
        torch::relu(fc2->forward(torch::relu(fc1->forward(x)))));
  }

 private:
  torch::nn::Linear fc1, fc2, fc3;
};
TORCH_MODULE(Mlp);

struct Work {
  Work() {
    torch::manual_seed(0);
    x = torch::randn({kBatch * kBatches, kIn});
    y = x.matmul(torch::randn({kIn, kOut})).argmax(1);
    torch::manual_seed(1);
    model = Mlp();
    xs = x.split(kBatch);
    ys = y.split(kBatch);
  }
  at::Tensor x, y;
  Mlp model{nullptr};
  std::vector<at::Tensor> xs, ys;
};

double CosineRate(int64_t step) {
  return kLr * 0.5 *
         (1 + std::cos(M_PI * static_cast<double>(step % kBatches) /
                       static_cast<double>(kBatches)));
}

at::Tensor Loss(Work& work, const at::Tensor& x, const at::Tensor& y) {
  return torch::nn::functional::cross_entropy(work.model->forward(x), y);
}

// Only forward and backward.
StepLoop GradientsOnly() {
  auto work = std::make_shared<Work>();
  return {"forward + backward alone", [work](int64_t steps) {
            const auto params = work->model->parameters();
            for (int64_t i = 0; i < steps; ++i) {
              for (const at::Tensor& param : params)
                param.mutable_grad().reset();
              Loss(*work, work->xs[i % kBatches], work->ys[i % kBatches])
                  .backward();
            }
          }};
}

// A loop optimised for speed only: batches prepared beforehand, one fused
// kernel per step that also clips.
StepLoop HandWritten() {
  struct State : Work {
    std::vector<at::Tensor> params = model->parameters(), grads{params.size()},
                            m, v, none, steps;
    at::Tensor count = torch::zeros({}), scale = torch::ones({});
  };
  auto work = std::make_shared<State>();
  for (const at::Tensor& param : work->params) {
    work->m.push_back(torch::zeros_like(param));
    work->v.push_back(torch::zeros_like(param));
    work->steps.push_back(work->count);
  }
  return {"fastest hand-written loop", [work](int64_t steps) {
            State& s = *work;
            [[maybe_unused]] double total = 0;
            for (int64_t i = 0; i < steps; ++i) {
              for (const at::Tensor& param : s.params)
                param.mutable_grad().reset();
              const at::Tensor loss =
                  Loss(s, s.xs[i % kBatches], s.ys[i % kBatches]);
              loss.backward();
              const torch::NoGradGuard guard;
              float squares = 0;
              for (size_t k = 0; k < s.params.size(); ++k) {
                s.grads[k] = s.params[k].grad();
                const float norm =
                    at::linalg_vector_norm(s.grads[k], 2).item<float>();
                squares += norm * norm;
              }
              const float factor =
                  (std::sqrt(squares) + 1e-6F) / static_cast<float>(kClip);
              std::optional<at::Tensor> divisor;
              if (factor > 1)
                *s.scale.data_ptr<float>() = factor, divisor = s.scale;
              *s.count.data_ptr<float>() += 1;
              at::_fused_adamw_(s.params, s.grads, s.m, s.v, s.none, s.steps,
                                CosineRate(i), 0.9, 0.999, 0.01, 1e-8, false,
                                false, divisor);
              total += loss.item<double>();
            }
          }};
}

struct Rows : torch::data::datasets::Dataset<Rows> {
  Rows(at::Tensor inputs, at::Tensor targets)
      : x(std::move(inputs)), y(std::move(targets)) {}
  torch::data::Example<> get(size_t i) override {
    return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]};
  }
  std::optional<size_t> size() const override { return x.size(0); }
  at::Tensor x, y;
};

// With libtorch's own loader and optimizer, as in its tutorials.
StepLoop AsPeopleWriteIt() {
  auto work = std::make_shared<Work>();
  auto optimizer = std::make_shared<torch::optim::AdamW>(
      work->model->parameters(), torch::optim::AdamWOptions(kLr));
  return {
      "loop of libtorch's own parts", [work, optimizer](int64_t steps) {
        [[maybe_unused]] double total = 0;
        int64_t i = 0;
        while (i < steps) {
          auto loader = torch::data::make_data_loader(
              Rows(work->x, work->y).map(torch::data::transforms::Stack<>()),
              torch::data::DataLoaderOptions().batch_size(kBatch));
          for (auto& batch : *loader) {
            if (i == steps) break;
            optimizer->zero_grad();
            const at::Tensor loss = Loss(*work, batch.data, batch.target);
            loss.backward();
            torch::nn::utils::clip_grad_norm_(work->model->parameters(), kClip);
            for (auto& group : optimizer->param_groups())
              group.options().set_lr(CosineRate(i));
            optimizer->step();
            total += loss.item<double>();
            ++i;
          }
        }
      }};
}

// Trainyard with its defaults: shuffled batches, gathered when needed.
StepLoop WithTrainer(const std::string& name, int no_op_callbacks) {
  struct State : Work {
    AdamW optimizer{*model, {.lr = kLr}};
    std::unique_ptr<Backend> backend = MakeBackend("sp");
    Trainer trainer{Supervised(model, CrossEntropy()), optimizer, *backend};
    DatasetPtr data = MakeTensorDataset(Example{x, y});
  };
  class Nothing final : public Callback {};
  auto work = std::make_shared<State>();
  for (int i = 0; i < no_op_callbacks; ++i)
    work->trainer.Add(Nothing(), {.duplicates = Duplicates::kAllow});
  return {name, [work](int64_t steps) {
            work->trainer.Train({.data = work->data,
                                 .length = Updates(steps),
                                 .per_device_batch_size = kBatch,
                                 .clip = ClipNorm(kClip),
                                 .schedule = Cosine()});
          }};
}

}  // namespace

std::vector<StepLoop> MakeStepLoops() {
  return {GradientsOnly(), HandWritten(), AsPeopleWriteIt(),
          WithTrainer("trainer", 0),
          WithTrainer("trainer, ten no-op callbacks", 10)};
}

}  // namespace trainyard

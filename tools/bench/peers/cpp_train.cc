// One training run of a loop that is written by hand in C++, for the comparison
// with other frameworks. peers.py starts it and reads its last line.
//
//   cpp_train --workload=mlp --loop=fastest --steps=200
//
// --loop=fastest prepares the batches beforehand and updates with one fused
// kernel that also clips; --loop=libtorch uses libtorch's own DataLoader,
// optimizer and clipping, as its tutorials do.
#include <absl/flags/flag.h>
#include <absl/strings/str_cat.h>
#include <torch/torch.h>

#include <cmath>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/peers/networks.h"
#include "tools/bench/peers/workloads.h"
#include "tools/cli/parse_flags.h"

ABSL_FLAG(std::string, workload, "tiny", "tiny, mlp, transformer or conv.");
ABSL_FLAG(std::string, loop, "fastest", "fastest or libtorch.");
ABSL_FLAG(int64_t, threads, 1, "Threads of libtorch.");
ABSL_FLAG(int64_t, steps, 0,
          "Number of steps. 0: trains conv until it has 91 % accuracy.");

namespace trainyard::bench {
namespace {

constexpr double kLargestNorm = 1;

// The learning rate of each step, and what happens after it.
class Steps {
 public:
  explicit Steps(const Workload& work, int64_t records)
      : work_(work), per_epoch_((records + work.batch - 1) / work.batch) {
    if (work_.steps == 0) test_ = TestRecords();
  }

  int64_t epochs() const { return work_.steps == 0 ? kEpochs : 1; }

  double Rate() const {
    return work_.rate * 0.5 *
           (1 + std::cos(M_PI * static_cast<double>(ends_.size()) /
                         static_cast<double>(epochs() * per_epoch_)));
  }

  void Done() { ends_.push_back(Seconds()); }

  // Returns whether the run is over.
  template <class Model>
  bool EpochDone(Model& model, const Records& data) {
    if (work_.steps > 0) {
      PrintResult(ends_, FirstLoss(model, data));
      return true;
    }
    const double accuracy = AccuracyOf(model, test_);
    if (++epoch_ < kEpochs && accuracy < kWanted) return false;
    PrintAccuracy(epoch_, accuracy);
    return true;
  }

 private:
  const Workload work_;
  const int64_t per_epoch_;
  Records test_;
  int64_t epoch_ = 0;
  std::vector<double> ends_;
};

// AdamW in one kernel, which also multiplies by the clipping factor.
class FusedUpdate {
 public:
  explicit FusedUpdate(std::vector<at::Tensor> params)
      : params_(std::move(params)), grads_(params_.size()) {
    for (const at::Tensor& param : params_) {
      first_.push_back(torch::zeros_like(param));
      second_.push_back(torch::zeros_like(param));
      counts_.push_back(count_);
    }
  }

  void ResetGradients() {
    for (const at::Tensor& param : params_) param.mutable_grad().reset();
  }

  void Step(double rate) {
    const at::NoGradGuard no_gradients;
    float squares = 0;
    for (size_t i = 0; i < params_.size(); ++i) {
      grads_[i] = params_[i].grad();
      const float norm = at::linalg_vector_norm(grads_[i], 2).item<float>();
      squares += norm * norm;
    }
    const float divisor =
        (std::sqrt(squares) + 1e-6F) / static_cast<float>(kLargestNorm);
    std::optional<at::Tensor> scale;
    if (divisor > 1) {
      *scale_.data_ptr<float>() = divisor;
      scale = scale_;
    }
    *count_.data_ptr<float>() += 1;
    at::_fused_adamw_(params_, grads_, first_, second_, {}, counts_, rate, 0.9,
                      0.999, 0.01, 1e-8, false, false, scale);
  }

 private:
  std::vector<at::Tensor> params_, grads_, first_, second_, counts_;
  at::Tensor count_ = torch::zeros({}), scale_ = torch::ones({});
};

template <class Model>
void TrainFastest(Model& model, const Workload& work, Records data) {
  FusedUpdate update(model->parameters());
  Steps steps(work, data.input.size(0));
  [[maybe_unused]] double total = 0;
  do {
    if (work.steps == 0) {
      const at::Tensor order = at::randperm(data.input.size(0), at::kLong);
      data = {data.input.index_select(0, order),
              data.target.index_select(0, order)};
    }
    const auto inputs = data.input.split(work.batch);
    const auto targets = data.target.split(work.batch);
    for (size_t i = 0; i < inputs.size(); ++i) {
      update.ResetGradients();
      const at::Tensor loss = torch::nn::functional::cross_entropy(
          model->forward(inputs[i]), targets[i]);
      loss.backward();
      update.Step(steps.Rate());
      total += loss.item<double>();
      steps.Done();
    }
  } while (!steps.EpochDone(model, data));
}

struct RecordDataset : torch::data::datasets::Dataset<RecordDataset> {
  explicit RecordDataset(Records records) : data(std::move(records)) {}
  torch::data::Example<> get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
    return {data.input[at], data.target[at]};
  }
  std::optional<size_t> size() const override { return data.input.size(0); }
  Records data;
};

template <class Model>
void TrainWithLibtorch(Model& model, const Workload& work,
                       const Records& data) {
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(work.rate));
  const auto loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
          RecordDataset(data).map(torch::data::transforms::Stack<>()),
          torch::data::DataLoaderOptions().batch_size(
              static_cast<size_t>(work.batch)));
  Steps steps(work, data.input.size(0));
  [[maybe_unused]] double total = 0;
  do {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const at::Tensor loss = torch::nn::functional::cross_entropy(
          model->forward(batch.data), batch.target);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), kLargestNorm);
      for (auto& group : optimizer.param_groups()) {
        group.options().set_lr(steps.Rate());
      }
      optimizer.step();
      total += loss.item<double>();
      steps.Done();
    }
  } while (!steps.EpochDone(model, data));
}

template <class Model>
int Train(Model model, const Workload& work) {
  const Records data = MakeRecords(work, work.batch * work.steps);
  const std::string loop = absl::GetFlag(FLAGS_loop);
  if (loop == "fastest") {
    TrainFastest(model, work, data);
  } else if (loop == "libtorch") {
    TrainWithLibtorch(model, work, data);
  } else {
    throw std::invalid_argument(
        absl::StrCat("--loop=", loop, ": must be fastest or libtorch"));
  }
  return 0;
}

int Run() {
  at::set_num_threads(static_cast<int>(absl::GetFlag(FLAGS_threads)));
  const Workload work =
      GetWorkload(absl::GetFlag(FLAGS_workload), absl::GetFlag(FLAGS_steps));
  return WithNetwork(work, [&](auto model) { return Train(model, work); });
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "one training run of a hand-written C++ loop");
  // Not by Main, which makes libtorch faster than it is.
  try {
    return trainyard::bench::Run();
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}

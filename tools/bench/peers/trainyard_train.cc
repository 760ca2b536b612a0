// One training run of Trainyard's own trainer on a workload of the comparison
// with other frameworks; run.py starts it and reads its last line.
// peer_train.py has the same workloads.
//
//   trainyard_train --workload=mlp --threads=1
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "callbacks/callback.h"
#include "schedulers/cosine.h"
#include "tools/cli/parse_flags.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/main.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/trainer.h"

ABSL_FLAG(std::string, workload, "tiny", "tiny, mlp or transformer.");
ABSL_FLAG(int64_t, threads, 1, "Threads of libtorch.");
ABSL_FLAG(std::string, backend, "sp", "See MakeBackend.");
ABSL_FLAG(int64_t, steps, 0, "Number of steps. 0: the workload's own.");

namespace trainyard {
namespace {

constexpr int64_t kVocabulary = 1000, kLength = 64, kWidth = 128, kHeads = 4,
                  kFeedForward = 512, kLayers = 4;
constexpr size_t kWarmup = 5;

struct Workload {
  int64_t batch = 0;
  int64_t steps = 0;
  std::vector<int64_t> widths = {};  // of the MLP
};

const std::map<std::string, Workload>& Workloads() {
  static const auto* const workloads = new std::map<std::string, Workload>{
      {"tiny", {32, 2000, {32, 64, 64, 10}}},
      {"mlp", {128, 200, {784, 1024, 1024, 10}}},
      {"transformer", {16, 60}}};
  return *workloads;
}

torch::nn::Sequential MakeMlp(const std::vector<int64_t>& w) {
  return torch::nn::Sequential(torch::nn::Linear(w[0], w[1]), torch::nn::ReLU(),
                               torch::nn::Linear(w[1], w[2]), torch::nn::ReLU(),
                               torch::nn::Linear(w[2], w[3]));
}

// Logits over the vocabulary for each token.
class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl()
      : embedding_(
            register_module("emb", torch::nn::Embedding(kVocabulary, kWidth))),
        position_(register_parameter("pos", at::zeros({kLength, kWidth}))),
        encoder_(register_module(
            "enc",
            torch::nn::TransformerEncoder(torch::nn::TransformerEncoderOptions(
                torch::nn::TransformerEncoderLayerOptions(kWidth, kHeads)
                    .dim_feedforward(kFeedForward)
                    .dropout(0),
                kLayers)))),
        head_(register_module("head", torch::nn::Linear(kWidth, kVocabulary))) {
  }
  // As cross entropy takes it: the classes are dimension 1.
  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor input = embedding_->forward(tokens).add(position_);
    // The encoder takes the sequence first.
    const at::Tensor hidden = encoder_->forward(input.transpose(0, 1));
    return head_->forward(hidden.transpose(0, 1)).transpose(1, 2);
  }

 private:
  torch::nn::Embedding embedding_;
  at::Tensor position_;
  torch::nn::TransformerEncoder encoder_;
  torch::nn::Linear head_;
};
TORCH_MODULE(Encoder);

Example MakeData(const Workload& work, int64_t records) {
  torch::manual_seed(0);
  if (work.widths.empty()) {
    const at::Tensor x =
        at::randint(kVocabulary, {records, kLength}, at::kLong);
    return {x, x.mul(7).add(3).remainder(kVocabulary)};
  }
  const at::Tensor x = at::randn({records, work.widths.front()});
  return {
      x,
      x.matmul(at::randn({work.widths.front(), work.widths.back()})).argmax(1)};
}

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void PrintResult(const std::vector<double>& ends, double loss) {
  std::vector<double> times;
  for (size_t i = kWarmup; i < ends.size(); ++i) {
    times.push_back(1e3 * (ends[i] - ends[i - 1]));
  }
  const double mean = 1e3 * (ends.back() - ends[kWarmup - 1]) /
                      static_cast<double>(times.size());
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  const char* const launched = std::getenv("BENCH_LAUNCH");
  absl::PrintF(
      "@@{\"mean_ms\": %.6f, \"p50_ms\": %.6f, \"startup_s\": %.4f, "
      "\"steps\": %d, \"final_loss\": %.6f}\n",
      mean, times[times.size() / 2],
      launched == nullptr ? 0 : ends[0] - std::atof(launched), ends.size(),
      loss);
}

template <class Model>
int Train(Model model, Workload work) {
  AdamW optimizer(*model, {.lr = 1e-3});
  const auto backend = MakeBackend(absl::GetFlag(FLAGS_backend));
  const Example data =
      MakeData(work, work.batch * work.steps * backend->num_processes());
  Trainer trainer(Supervised(model, CrossEntropy()), optimizer, *backend);
  std::vector<double> ends;
  ends.reserve(static_cast<size_t>(work.steps));
  trainer.Add(On<UpdateEnd>(
      [&](const UpdateEnd&, Control&) { ends.push_back(Seconds()); }));
  trainer.Train({.data = MakeTensorDataset(data),
                 .length = Epochs(1),
                 .per_device_batch_size = work.batch,
                 .clip = ClipNorm(1),
                 .schedule = Cosine()});
  if (backend->rank() == 0) {
    const at::NoGradGuard no_gradients;
    const at::Tensor loss = at::cross_entropy_loss(
        model->forward(data.input.narrow(0, 0, 512)).detach(),
        data.target.narrow(0, 0, 512));
    PrintResult(ends, loss.item<double>());
  }
  return 0;
}

int Run() {
  at::set_num_threads(static_cast<int>(absl::GetFlag(FLAGS_threads)));
  const std::string name = absl::GetFlag(FLAGS_workload);
  Workload work = Workloads().at(name);
  if (absl::GetFlag(FLAGS_steps) > 0) work.steps = absl::GetFlag(FLAGS_steps);
  torch::manual_seed(1);
  if (work.widths.empty()) return Train(Encoder(), work);
  return Train(MakeMlp(work.widths), work);
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv,
                        "one training run of the comparison with others");
  return trainyard::Main(trainyard::Run);
}

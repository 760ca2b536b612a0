// The networks of the comparison with other frameworks.
//
//   return WithNetwork(work, [&](auto model) { return Train(model, work); });
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_BENCH_PEERS_NETWORKS_H_
#define TRAINYARD_TOOLS_BENCH_PEERS_NETWORKS_H_

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/bench/peers/workloads.h"

namespace trainyard::bench {

// Three linear layers with ReLU between them; `widths` has four entries.
torch::nn::Sequential MakeMlp(const std::vector<int64_t>& widths);

// ConvNet of tools/examples, of libtorch's own parts only.
class PlainConvNetImpl : public torch::nn::Module {
 public:
  PlainConvNetImpl();
  at::Tensor forward(const at::Tensor& images);

 private:
  torch::nn::Conv2d conv1_, conv2_;
  torch::nn::Linear hidden_, output_;
};
TORCH_MODULE(PlainConvNet);

// The layer of torch.nn.TransformerEncoder. The one of C++'s torch::nn does not
// call scaled_dot_product_attention, as Python's does.
class EncoderLayerImpl : public torch::nn::Module {
 public:
  EncoderLayerImpl();
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::Linear projections_, output_, up_, down_;
  torch::nn::LayerNorm norm1_, norm2_;
};
TORCH_MODULE(EncoderLayer);

// A transformer of four layers: logits over the vocabulary for each token.
class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl();
  // The classes are dimension 1, as cross entropy requires.
  at::Tensor forward(const at::Tensor& tokens);

 private:
  torch::nn::Embedding embedding_;
  at::Tensor position_;
  torch::nn::Sequential layers_;
  torch::nn::Linear head_;
};
TORCH_MODULE(Encoder);

// Returns the result of `train` for the workload's network, with the same
// initial weights in every program.
template <class ConvNet = PlainConvNet, class Train>
auto WithNetwork(const Workload& work, const Train& train) {
  at::manual_seed(1);
  if (work.network == Network::kTransformer) return train(Encoder());
  if (work.network == Network::kConvNet) return train(ConvNet());
  return train(MakeMlp(work.widths));
}

// The loss of the first kLossRecords, or of all if there are fewer.
template <class Model>
double FirstLoss(Model& model, const Records& data) {
  const at::NoGradGuard no_gradients;
  if constexpr (requires { model->eval(); }) model->eval();
  const int64_t count = std::min(kLossRecords, data.input.size(0));
  return at::cross_entropy_loss(model->forward(data.input.narrow(0, 0, count)),
                                data.target.narrow(0, 0, count))
      .template item<double>();
}

// The share of images that the network gets right, in evaluation mode; it is in
// training mode afterwards.
template <class Model>
double AccuracyOf(Model& model, const Records& images) {
  const at::NoGradGuard no_gradients;
  model->eval();
  double right = 0;
  const auto inputs = images.input.split(1000);
  const auto targets = images.target.split(1000);
  for (size_t i = 0; i < inputs.size(); ++i) {
    right += model->forward(inputs[i])
                 .argmax(1)
                 .eq(targets[i])
                 .sum()
                 .template item<double>();
  }
  model->train();
  return right / static_cast<double>(images.target.size(0));
}

}  // namespace trainyard::bench

#endif  // TRAINYARD_TOOLS_BENCH_PEERS_NETWORKS_H_

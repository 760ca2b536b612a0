// One block of a convolution network, forward and backward, on libtorch's
// threads (OMP_NUM_THREADS). Arguments: images, channels, height and width,
// filters. Three ways take turns within each iteration; counters are medians,
// in microseconds:
//
//   ours            ConvPoolRelu
//   contiguous      conv2d, max_pool2d and relu
//   channels_last   the same, with input and weight in that format
//   speedup         the faster of the two / ours
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "trainer/layers/conv_pool_relu.h"

namespace trainyard {
namespace {

using Block = std::function<at::Tensor(const at::Tensor&, const at::Tensor&,
                                       const at::Tensor&)>;

at::Tensor ThreeOperations(const at::Tensor& input, const at::Tensor& weight,
                           const at::Tensor& bias) {
  return at::max_pool2d(at::conv2d(input, weight, bias, 1, 1), 2).relu_();
}

at::Tensor OnePass(const at::Tensor& input, const at::Tensor& weight,
                   const at::Tensor& bias) {
  return ConvPoolRelu(input, weight, bias);
}

class Way {
 public:
  Way(Block block, const at::Tensor& input, const at::Tensor& weight,
      at::MemoryFormat format)
      : block_(std::move(block)),
        input_(input.contiguous(format).detach()),
        weight_(weight.contiguous(format).detach().requires_grad_()) {
    // Images have no gradient.
    if (input.size(1) > 3) input_.requires_grad_();
  }

  void Time() {
    const auto start = std::chrono::steady_clock::now();
    const at::Tensor output = block_(input_, weight_, bias_);
    if (!grad_.defined()) grad_ = at::randn(output.sizes());
    output.backward(grad_);
    input_.mutable_grad() = at::Tensor();
    weight_.mutable_grad() = at::Tensor();
    bias_.mutable_grad() = at::Tensor();
    times_.push_back(std::chrono::duration<double, std::micro>(
                         std::chrono::steady_clock::now() - start)
                         .count());
  }

  double Median() {
    std::nth_element(times_.begin(), times_.begin() + times_.size() / 2,
                     times_.end());
    return times_[times_.size() / 2];
  }

 private:
  const Block block_;
  const at::Tensor input_, weight_;
  const at::Tensor bias_ = at::randn({weight_.size(0)}).requires_grad_();
  at::Tensor grad_;
  std::vector<double> times_;
};

void BM_Block(benchmark::State& state) {
  const int64_t channels = state.range(1), size = state.range(2);
  const at::Tensor input = at::randn({state.range(0), channels, size, size});
  const at::Tensor weight = at::randn({state.range(3), channels, 3, 3});
  Way ours(OnePass, input, weight, at::MemoryFormat::Contiguous);
  Way contiguous(ThreeOperations, input, weight, at::MemoryFormat::Contiguous);
  Way last(ThreeOperations, input, weight, at::MemoryFormat::ChannelsLast);
  for (auto _ : state) {
    ours.Time();
    contiguous.Time();
    last.Time();
  }
  state.counters["ours"] = ours.Median();
  state.counters["contiguous"] = contiguous.Median();
  state.counters["channels_last"] = last.Median();
  state.counters["speedup"] =
      std::min(contiguous.Median(), last.Median()) / ours.Median();
}
BENCHMARK(BM_Block)
    ->Args({128, 1, 28, 16})
    ->Args({128, 16, 14, 32})
    ->Args({32, 3, 32, 32})
    ->Args({32, 32, 16, 64})
    ->Args({16, 64, 32, 64})
    ->Args({4, 3, 224, 32})
    ->Args({4, 32, 112, 64});

}  // namespace
}  // namespace trainyard

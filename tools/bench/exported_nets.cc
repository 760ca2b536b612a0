#include "tools/bench/exported_nets.h"

#include <torch/torch.h>

namespace trainyard {
namespace {

namespace nn = torch::nn;

struct TinyMlp : nn::Module {
  TinyMlp() {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }
  at::Tensor Forward(const at::Tensor& x) {
    return fc3(torch::relu(fc2(torch::relu(fc1(x)))));
  }
  nn::Linear fc1{32, 64}, fc2{64, 64}, fc3{64, 10};
};

nn::Conv2dOptions Conv3x3(int64_t in, int64_t out) {
  return nn::Conv2dOptions(in, out, 3).padding(1).bias(false);
}

struct SmallConv : nn::Module {
  SmallConv() {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    register_module("fc", fc);
  }
  at::Tensor Forward(const at::Tensor& images) {
    at::Tensor x = torch::max_pool2d(torch::relu(bn1(conv1(images))), 2);
    x = torch::max_pool2d(torch::relu(bn2(conv2(x))), 2);
    return fc(x.flatten(1));
  }
  nn::Conv2d conv1{Conv3x3(1, 16)}, conv2{Conv3x3(16, 32)};
  nn::BatchNorm2d bn1{16}, bn2{32};
  nn::Linear fc{32 * 7 * 7, 10};
};

constexpr int64_t kWidth = 128, kHeads = 4;

struct EncoderBlock : nn::Module {
  EncoderBlock() {
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("qkv", qkv);
    register_module("out", out);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  at::Tensor Forward(const at::Tensor& x) {
    const int64_t batch = x.size(0), length = x.size(1);
    const std::vector<at::Tensor> parts =
        qkv(norm1(x))
            .view({batch, length, 3, kHeads, kWidth / kHeads})
            .permute({2, 0, 3, 1, 4})
            .unbind(0);
    const at::Tensor y = at::scaled_dot_product_attention(
        parts[0], parts[1], parts[2], {}, 0, /*is_causal=*/true);
    const at::Tensor mixed =
        x + out(y.transpose(1, 2).reshape({batch, length, kWidth}));
    return mixed + fc2(at::gelu(fc1(norm2(mixed))));
  }
  nn::LayerNorm norm1{nn::LayerNormOptions({kWidth})},
      norm2{nn::LayerNormOptions({kWidth})};
  nn::Linear qkv{kWidth, 3 * kWidth}, out{kWidth, kWidth},
      fc1{kWidth, 4 * kWidth}, fc2{4 * kWidth, kWidth};
};

struct SmallTransformer : nn::Module {
  SmallTransformer() {
    register_module("words", words);
    register_module("places", places);
    for (int i = 0; i < 4; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i),
                                       std::make_shared<EncoderBlock>()));
    }
    register_module("norm", norm);
    register_module("head", head);
  }
  at::Tensor Forward(const at::Tensor& tokens) {
    at::Tensor x = words(tokens) + places->weight.slice(0, 0, tokens.size(1));
    for (const auto& block : blocks) x = block->Forward(x);
    return head(norm(x).mean(1));
  }
  nn::Embedding words{256, kWidth}, places{64, kWidth};
  std::vector<std::shared_ptr<EncoderBlock>> blocks;
  nn::LayerNorm norm{nn::LayerNormOptions({kWidth})};
  nn::Linear head{kWidth, 10};
};

template <class Net>
ExportedNet Made(int64_t batch, std::function<at::Tensor(int64_t)> inputs) {
  auto net = std::make_shared<Net>();
  return {net, [net](const at::Tensor& x) { return net->Forward(x); }, batch,
          std::move(inputs)};
}

}  // namespace

ExportedNet MakeExportedNet(const std::string& name) {
  if (name == "mlp") {
    return Made<TinyMlp>(
        32, [](int64_t batches) { return torch::randn({32 * batches, 32}); });
  }
  if (name == "conv") {
    return Made<SmallConv>(64, [](int64_t batches) {
      return torch::randn({64 * batches, 1, 28, 28});
    });
  }
  TORCH_CHECK_VALUE(name == "transformer", "there is no network ", name,
                    "; there are mlp, conv and transformer");
  return Made<SmallTransformer>(16, [](int64_t batches) {
    return torch::randint(256, {16 * batches, 64}, torch::kLong);
  });
}

}  // namespace trainyard

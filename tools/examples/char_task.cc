#include "tools/examples/char_task.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

// `reduction` is a value of at::Reduction.
at::Tensor LossOf(const at::Tensor& logits, const at::Tensor& target,
                  int64_t reduction) {
  return at::cross_entropy_loss(logits.flatten(0, 1), target.flatten(),
                                /*weight=*/{}, reduction, kPadding);
}

}  // namespace

CharTask::CharTask(CharTransformer model) : model_(std::move(model)) {
  AddModel("model", model_.ptr());
}

StepOutput CharTask::TrainStep(const Paragraphs& batch, StepContext& step) {
  const at::Tensor target = batch.numbers.slice(1, 1);
  const at::Tensor logits = model_->forward(batch.numbers.slice(1, 0, -1));
  step.ForwardDone(logits);
  return {.loss = LossOf(logits, target, at::Reduction::Mean),
          .weight = target.ne(kPadding).sum().item<double>()};
}

StepOutput CharTask::EvalStep(const Paragraphs& batch, StepContext& step) {
  StepOutput output = TrainStep(batch, step);
  output.metrics.emplace_back("perplexity", output.loss);
  return output;
}

MetricReducers CharTask::EvalReducers() const {
  return {{"perplexity", ReduceExpOfMean()}};
}

double Perplexity(CharTransformer& model, const at::Tensor& rows) {
  const at::NoGradGuard no_gradients;
  model->eval();
  double sum = 0;
  for (const at::Tensor& part : rows.split(16)) {
    sum += LossOf(model->forward(part.slice(1, 0, -1)), part.slice(1, 1),
                  at::Reduction::Sum)
               .item<double>();
  }
  return std::exp(sum / rows.slice(1, 1).ne(kPadding).sum().item<double>());
}

std::string Written(CharTransformer& model, const CharText& text,
                    int64_t length) {
  const at::NoGradGuard no_gradients;
  model->eval();
  std::vector<int64_t> numbers = {kPadding};
  while (static_cast<int64_t>(numbers.size()) <= length) {
    const at::Tensor logits = model->forward(at::tensor(numbers).unsqueeze(0));
    const auto next =
        at::multinomial(at::softmax(logits[0][-1] / 0.7, 0), 1).item<int64_t>();
    if (next == kPadding) break;
    numbers.push_back(next);
  }
  return text.Decode(numbers);
}

}  // namespace trainyard

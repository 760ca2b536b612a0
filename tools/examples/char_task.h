// CharTask trains a CharTransformer to predict the next character of
// paragraphs. Perplexity evaluates it, and Written samples text from it.
//
//   Trainer trainer(std::make_unique<CharTask>(model), optimizer, *backend);
//   …
//   absl::PrintF("it writes: %s\n", Written(model, text, length - 1));
//
// Thread-compatible.
#ifndef TRAINYARD_TOOLS_EXAMPLES_CHAR_TASK_H_
#define TRAINYARD_TOOLS_EXAMPLES_CHAR_TASK_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "tools/examples/char_text.h"
#include "tools/examples/char_transformer.h"
#include "trainer/task.h"

namespace trainyard {

struct Paragraphs {
  at::Tensor numbers;
  auto tensors() { return std::tie(numbers); }
};

// The loss is weighted by the number of characters. Evaluation has the metric
// "perplexity".
class CharTask final : public TaskOf<Paragraphs> {
 public:
  explicit CharTask(CharTransformer model);

  StepOutput TrainStep(const Paragraphs& batch, StepContext& step) override;
  StepOutput EvalStep(const Paragraphs& batch, StepContext& step) override;
  MetricReducers EvalReducers() const override;

 private:
  CharTransformer model_;
};

// The perplexity of paragraphs, given as rows of a CharText.
double Perplexity(CharTransformer& model, const at::Tensor& rows);

// Text that the model generates without a prompt: at most `length` characters.
std::string Written(CharTransformer& model, const CharText& text,
                    int64_t length);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_CHAR_TASK_H_

// What a CharTransformer learns from paragraphs, and what it then writes.
//
//   Trainer trainer(std::make_unique<CharTask>(model), optimizer, *backend);
//   …
//   std::cout << Written(model, text, 159);
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

// The loss is weighted by characters. Evaluation has the metric "perplexity".
class CharTask final : public TaskOf<Paragraphs> {
 public:
  explicit CharTask(CharTransformer model);

  StepOutput TrainStep(const Paragraphs& batch, StepContext& step) override;
  StepOutput EvalStep(const Paragraphs& batch, StepContext& step) override;
  MetricReducers EvalReducers() const override;

 private:
  CharTransformer model_;
};

// Of the paragraphs, rows as CharText has them.
double Perplexity(CharTransformer& model, const at::Tensor& rows);

// What the model writes after nothing: at most `length` characters.
std::string Written(CharTransformer& model, const CharText& text,
                    int64_t length);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_EXAMPLES_CHAR_TASK_H_

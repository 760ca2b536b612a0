#include "finetuning/activation_checkpoint.h"

#include <ATen/SequenceNumber.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "finetuning/recompute/block_graph.h"
#include "finetuning/recompute/forward_state.h"

namespace trainyard {
namespace {

using Tensors = std::vector<at::Tensor>;
using Block = std::function<Tensors(const Tensors&)>;
using torch::autograd::Node;
using torch::autograd::SavedVariable;

// A copy of the tensors' values, to restore them later.
class KeptValues {
 public:
  explicit KeptValues(const Tensors& tensors) : tensors_(tensors) {
    for (const at::Tensor& tensor : tensors_) {
      values_.push_back(tensor.detach().clone());
    }
  }
  ~KeptValues() {
    const c10::AutoGradMode no_gradients(false);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      // Not counted as a modification: the visible value does not change.
      tensors_[i].variable_data().copy_(values_[i]);
    }
  }
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;

 private:
  const Tensors& tensors_;
  Tensors values_;
};

class RecomputeBackward final : public Node {
 public:
  // Captures inputs and state before the block runs the first time.
  RecomputeBackward(Block block, const Tensors& inputs,
                    const ActivationCheckpointOptions& options)
      : block_(std::move(block)),
        state_(inputs, options.preserve_rng),
        buffers_(options.buffers) {
    for (const at::Tensor& input : inputs) {
      inputs_.emplace_back(input, /*is_output=*/false);
    }
  }

  Tensors FirstRun(const Tensors& inputs) {
    const NoAutocastCache no_shared_casts;
    const uint64_t start = at::sequence_number::peek();
    const Tensors inside = block_(inputs);
    ends_ = BlockGraph(inside, start).ends();
    set_next_edges(torch::autograd::edge_list(ends_));
    // Numbered after the nodes inside the block, as the engine expects.
    set_sequence_nr(at::sequence_number::get_and_increment());
    Tensors outputs;
    for (const at::Tensor& tensor : inside) {
      outputs.push_back(tensor.defined() ? tensor.detach() : tensor);
      if (tensor.requires_grad()) {
        torch::autograd::create_gradient_edge(outputs.back(), getptr());
      } else {
        add_input_metadata(undefined_input());
      }
    }
    return outputs;
  }

  std::string name() const override { return "RecomputeBackward"; }

  void release_variables() override {
    for (SavedVariable& input : inputs_) input.reset_data();
    block_ = nullptr;
    buffers_.clear();
  }

 protected:
  Tensors apply(Tensors&& gradients) override {
    const bool create_graph = c10::GradMode::is_enabled();
    Tensors inputs;
    for (const SavedVariable& input : inputs_) inputs.push_back(input.unpack());
    TORCH_CHECK(block_ != nullptr, torch::autograd::ERR_BACKWARD_TWICE);
    const KeptValues buffers(buffers_);
    const uint64_t start = at::sequence_number::peek();
    const Tensors outputs = RunAgain(inputs);
    BlockGraph graph(outputs, start);
    CheckSame(outputs, graph);
    return graph.Backward(gradients, create_graph);
  }

 private:
  Tensors RunAgain(const Tensors& inputs) const {
    const c10::AutoGradMode gradients(true);
    const NoAutocastCache no_shared_casts;
    const ForwardState::Restore as_before(state_);
    return block_(inputs);
  }

  void CheckSame(const Tensors& outputs, const BlockGraph& graph) const {
    TORCH_CHECK(outputs.size() == num_inputs(),
                "CheckpointActivations: the block returned ", num_inputs(),
                " tensors, and ", outputs.size(),
                " when it was run again for backward");
    for (uint32_t i = 0; i < num_inputs(); ++i) {
      const auto& first = input_metadata(i);
      const bool had_gradient = !first.was_default_constructed();
      TORCH_CHECK(
          had_gradient == outputs[i].requires_grad() &&
              (!had_gradient || first.is_same_shape(outputs[i])),
          "CheckpointActivations: output ", i,
          " of the block has another shape, or gradient, when it is run again "
          "for backward; the block must compute the same both times");
    }
    TORCH_CHECK(graph.ends() == ends_,
                "CheckpointActivations: the block depends on other tensors "
                "when it is run again for backward; it must compute the same "
                "both times");
  }

  Block block_;
  ForwardState state_;
  Tensors buffers_;
  std::vector<SavedVariable> inputs_;
  // A copy of the original next_edges(): an enclosing block redirects those.
  torch::autograd::edge_list ends_;
};

}  // namespace

Tensors CheckpointActivations(Block block, const Tensors& inputs,
                              const ActivationCheckpointOptions& options) {
  if (!c10::GradMode::is_enabled()) return block(inputs);
  return c10::make_intrusive<RecomputeBackward>(std::move(block), inputs,
                                                options)
      ->FirstRun(inputs);
}

at::Tensor CheckpointActivations(
    std::function<at::Tensor(const at::Tensor&)> block, const at::Tensor& input,
    const ActivationCheckpointOptions& options) {
  const Block wrapped = [own = std::move(block)](const Tensors& inputs) {
    return Tensors{own(inputs.front())};
  };
  return CheckpointActivations(wrapped, Tensors{input}, options).front();
}

}  // namespace trainyard

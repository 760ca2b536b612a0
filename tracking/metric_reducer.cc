#include "tracking/metric_reducer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

// Keeps one float64 value on the device, so that adding does not wait for it.
class Folding final : public MetricReducer {
 public:
  using Fold = at::Tensor (*)(const at::Tensor& folded,
                              const at::Tensor& value);

  explicit Folding(Fold fold) : fold_(fold) {}

  void Add(const at::Tensor& value, double) override {
    const at::Tensor scalar = value.detach().to(at::kDouble).reshape({});
    folded_ = folded_.defined() ? fold_(folded_, scalar) : scalar.clone();
  }
  at::Tensor Partial() const override { return folded_.reshape({1, 1}); }
  ReducedValues Result(const at::Tensor& rows) const override {
    at::Tensor folded = rows[0];
    for (int64_t row = 1; row < rows.size(0); ++row) {
      folded = fold_(folded, rows[row]);
    }
    return {{"", folded.item<double>()}};
  }

 private:
  Fold fold_;
  at::Tensor folded_;
};

class Mean final : public MetricReducer {
 public:
  using Function = double (*)(double mean);

  explicit Mean(Function function) : function_(function) {}

  void Add(const at::Tensor& value, double weight) override {
    const at::Tensor scalar = value.detach().to(at::kDouble).reshape({});
    const at::Tensor weighted = scalar.mul(weight);
    sum_ = sum_.defined() ? sum_.add(weighted) : weighted;
    weight_ += weight;
  }
  at::Tensor Partial() const override {
    return at::stack({sum_, at::scalar_tensor(weight_, sum_.options())})
        .reshape({1, 2});
  }
  ReducedValues Result(const at::Tensor& rows) const override {
    const at::Tensor sums = rows.sum(0);
    return {{"", function_(sums[0].div(sums[1]).item<double>())}};
  }

 private:
  Function function_;
  at::Tensor sum_;
  double weight_ = 0;
};

using ReduceFunction = std::function<ReducedValues(const at::Tensor& rows)>;

class Collecting final : public MetricReducer {
 public:
  explicit Collecting(ReduceFunction function)
      : function_(std::move(function)) {}

  void Add(const at::Tensor& value, double) override {
    const at::Tensor rows = value.detach();
    values_.push_back(rows.dim() == 0 ? rows.reshape({1}) : rows);
  }
  at::Tensor Partial() const override { return at::cat(values_); }
  bool keeps_rows() const override { return true; }
  ReducedValues Result(const at::Tensor& rows) const override {
    return function_(rows);
  }

 private:
  ReduceFunction function_;
  std::vector<at::Tensor> values_;
};

class Counting final : public MetricReducer {
 public:
  explicit Counting(ReduceFunction function) : function_(std::move(function)) {}

  void Add(const at::Tensor& value, double) override {
    TORCH_CHECK_VALUE(at::isIntegralType(value.scalar_type(), true),
                      "ReduceCounts: a batch's value is of type ",
                      value.scalar_type(), "; it must be of integers");
    const at::Tensor counts = value.detach().to(at::kLong).unsqueeze(0);
    if (!counts_.defined()) {
      counts_ = counts.clone();
      return;
    }
    TORCH_CHECK_VALUE(counts.sizes() == counts_.sizes(),
                      "ReduceCounts: a batch's value has the shape ",
                      value.sizes(), ", the first one's was ",
                      counts_.sizes().slice(1), "; all must be equal");
    counts_.add_(counts);
  }
  at::Tensor Partial() const override { return counts_; }
  ReducedValues Result(const at::Tensor& rows) const override {
    return function_(rows.sum(0).cpu());
  }

 private:
  ReduceFunction function_;
  at::Tensor counts_;
};

MakeReducer FoldedBy(Folding::Fold fold) {
  return [fold] { return std::make_unique<Folding>(fold); };
}

}  // namespace

MakeReducer ReduceMean() {
  return
      [] { return std::make_unique<Mean>([](double mean) { return mean; }); };
}

MakeReducer ReduceExpOfMean() {
  return [] {
    return std::make_unique<Mean>([](double mean) { return std::exp(mean); });
  };
}

MakeReducer ReduceSum() {
  return FoldedBy([](const at::Tensor& folded, const at::Tensor& value) {
    return folded.add(value);
  });
}

MakeReducer ReduceMin() {
  return FoldedBy([](const at::Tensor& folded, const at::Tensor& value) {
    return at::minimum(folded, value);
  });
}

MakeReducer ReduceMax() {
  return FoldedBy([](const at::Tensor& folded, const at::Tensor& value) {
    return at::maximum(folded, value);
  });
}

MakeReducer ReduceWith(std::function<double(const at::Tensor& rows)> function) {
  TORCH_CHECK_VALUE(function != nullptr, "ReduceWith: there is no function");
  return ReduceToValues([function = std::move(function)](
                            const at::Tensor& rows) -> ReducedValues {
    return {{"", function(rows)}};
  });
}

MakeReducer ReduceToValues(ReduceFunction function) {
  TORCH_CHECK_VALUE(function != nullptr,
                    "ReduceToValues: there is no function");
  return [function = std::move(function)] {
    return std::make_unique<Collecting>(function);
  };
}

MakeReducer ReduceCounts(ReduceFunction function) {
  TORCH_CHECK_VALUE(function != nullptr, "ReduceCounts: there is no function");
  return [function = std::move(function)] {
    return std::make_unique<Counting>(function);
  };
}

}  // namespace trainyard

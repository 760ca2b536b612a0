// The examples of the headers of callbacks/, as they stand there. They compile;
// what each does is tested beside it. tools/lint/examples.py compares the two.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/use_sync_batch_norm.h"
#include "callbacks/callback.h"
#include "callbacks/callback_handler.h"
#include "callbacks/clock.h"
#include "callbacks/filters.h"
#include "callbacks/predictions/predictions_to_file.h"
#include "callbacks/printing/log_metrics.h"
#include "callbacks/printing/print_progress.h"
#include "callbacks/printing/progress_bar.h"
#include "callbacks/printing/progress_display.h"
#include "callbacks/printing/progress_line.h"
#include "callbacks/printing/readable.h"
#include "callbacks/printing/terminal.h"
#include "callbacks/recording/gradient_norm_monitor.h"
#include "callbacks/recording/learning_rate_monitor.h"
#include "callbacks/recording/memory_monitor.h"
#include "callbacks/recording/profiler.h"
#include "callbacks/recording/throughput.h"
#include "callbacks/recording/timer.h"
#include "callbacks/recording/track.h"
#include "callbacks/setup/convert_sync_batch_norm.h"
#include "callbacks/setup/move_modules_to_device.h"
#include "callbacks/stopping/early_stopping.h"
#include "callbacks/stopping/max_duration.h"
#include "callbacks/stopping/metric_watch.h"
#include "callbacks/stopping/new_values.h"
#include "callbacks/stopping/terminate_on_nan.h"
#include "callbacks/weights/learning_rate_finder.h"
#include "callbacks/weights/lr_curve.h"
#include "callbacks/weights/model_ema.h"
#include "callbacks/weights/save_best.h"
#include "callbacks/weights/weights_folder.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/line_rig.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

class PrintLoss final : public Callback {
 public:
  void OnEvalEnd(const EvalEnd& e, Control&) override {
    std::cout << e.metrics.at("eval_loss") << "\n";
  }
};

void Judge(double) {}
void Draw(int) {}
double Train(double lr) { return lr; }

struct Platform {
  void Send(int64_t, const Metrics&) {}
};

// What every program has.
struct Program {
  torch::nn::Linear model{3, 1};
  AdamW optimizer{*model};
  std::unique_ptr<Backend> backend = MakeBackend("sp");
  Trainer trainer{Supervised(model, MeanSquaredError()), optimizer, *backend};
};

TEST(HeaderExamplesTest, EachCallbackIsAdded) {
  Program program;
  auto& [model, optimizer, backend, trainer] = program;
  PrintLoss logger;
  trainer.Add(logger, {.filter = EveryNth(100)});
  trainer.Add(LogMetrics());
  trainer.Add(MaxDuration(Seconds(3600)));
  trainer.Add(GradientNormMonitor(optimizer));
  trainer.Add(LearningRateMonitor(optimizer));
  trainer.Add(MemoryMonitor());
  trainer.Add(Throughput());
  trainer.Add(PrintProgress());
  trainer.Add(ConvertSyncBatchNorm(model.ptr(), *backend));
  trainer.Add(TerminateOnNaN());
  EarlyStopping({.patience = 3, .check = Every(Samples(1000000))});
  int64_t steps = 0;
  On<StepEnd> count([&](const StepEnd&, Control&) { ++steps; });
  trainer.Add(count);
  EXPECT_NE(trainer.callbacks().Describe().find("MaxDuration"),
            std::string::npos);
}

TEST(HeaderExamplesTest, CallbacksCanBeAskedAfterARun) {
  Program program;
  auto& [model, optimizer, backend, trainer] = program;
  const TrainOptions options{.data = LinePoints(4),
                             .eval_data = LinePoints(4),
                             .length = Epochs(1),
                             .per_device_batch_size = 4};
  auto& stopper = trainer.Add(EarlyStopping({.patience = 3}));
  Timer& timer = trainer.Add(Timer());
  trainer.Train(options);
  stopper.best();
  timer.seconds();
  EXPECT_GT(timer.seconds(), 0);
  EXPECT_TRUE(stopper.best().has_value());
}

// Compiled only: it would train for an hour, and write files.
[[maybe_unused]] void WithFiles(Program& program, const DatasetPtr& train,
                                const DatasetPtr& test,
                                const std::vector<NamedTensor>& weights) {
  auto& [model, optimizer, backend, trainer] = program;
  torch::nn::Linear metric(1, 1), net(1, 1);
  UseSyncBatchNorm(*net, backend->collectives());
  Platform my_platform;
  auto& finder =
      trainer.Add(LearningRateFinder(optimizer, trainer.task().NamedTensors()));
  trainer.Train({.data = train, .length = Epochs(100)});
  std::cout << finder.curve().Table();
  optimizer.Field(0, "lr") = finder.curve().suggestion().value_or(1e-3);
  trainer.Train({.data = train, .length = Epochs(5)});
  trainer.Add(LogMetrics());
  trainer.Add(LogMetrics({.log = [&](int64_t epoch, const Metrics& metrics) {
    my_platform.Send(epoch, metrics);
  }}));
  trainer.Add(LearningRateMonitor(optimizer));
  trainer.Add(LearningRateMonitor(optimizer, {.fields = {"lr", "beta1"}}));
  trainer.Add(Profiler({.path = "steps.json", .first_batch = 20}));
  trainer.Add(MoveModulesToDevice(backend->device(), {metric.ptr()}));
  trainer.Add(TerminateOnNaN());
  trainer.Add(TerminateOnNaN({.gradients = &optimizer}));
  trainer.Add(PredictionsToFile(
      {.path = "predictions.csv", .prediction = MostLikelyClass}));
  trainer.Evaluate(test, 256);
  Track track({.run_dir = "runs/first",
               .values = {{"lr", [&] { return optimizer.Field(0, "lr"); }}}});
  trainer.Add(track);
  trainer.Add(ModelEma(*model, {.decay = {.decay = 0.999}}));
  trainer.Add(
      SaveBest(trainer.task().NamedTensors(),
               {.directory = "runs/first/best", .metric = "ema_eval_loss"}));
  trainer.Add(SaveBest(trainer.task().NamedTensors(),
                       {.directory = "runs/first/best"}));
  WeightsFolder folder("runs/first/best");
  absl::Status written = folder.Write(1200, weights, {{"epoch", "3"}});
  absl::StatusOr<std::vector<NamedTensor>> read = folder.Read(1200);
}

TEST(HeaderExamplesTest, AHandlerBorrowsAndKeeps) {
  Control control;
  PrintLoss stopper;
  const RunClock clock;
  const AnyBatch batch(Example{at::ones({1}), at::ones({1})});
  const StepOutput output;
  CallbackHandler handler(control);
  handler.Add(stopper);
  handler.Add(ProgressBar());
  handler.Fire(StepEnd{clock, batch, output});
}

TEST(HeaderExamplesTest, ValuesAreFoundAndJudged) {
  const RunClock clock;
  InMemoryRunHistory history;
  history.Update("eval_loss", 0.5);
  const Metrics measured = {{"eval_loss", 0.5}};
  const std::string name = "eval";
  const EvalEnd eval_end{clock, name, measured};
  const EpochEnd epoch_end{clock, history}, e = epoch_end;
  MetricWatch watch("HeaderExamples", "eval_loss");
  if (const std::optional<double> value = watch.Take(eval_end)) {
    Judge(*value);
  }
  for (const double value : watch.Take(epoch_end)) Judge(value);
  NewValues news;
  const Metrics metrics = news.Take(e.history);
  EXPECT_EQ(metrics, measured);
}

TEST(HeaderExamplesTest, ACurveSuggestsARate) {
  LrCurve curve({.min_lr = 1e-5, .max_lr = 1, .updates = 50});
  while (!curve.done()) curve.Add(Train(curve.next_lr()));
  curve.suggestion();
}

TEST(HeaderExamplesTest, NumbersAreReadable) {
  EXPECT_EQ(ReadableCount(12345), "12.3k");
  ReadableCount(12345);
  ReadableSeconds(3725);
  ReadableValue(0.41237);
  const ProgressLine line{.label = "Epoch 2/5",
                          .done = 203,
                          .total = 469,
                          .seconds = 3.2,
                          .samples_per_second = 8200,
                          .values = {{"loss", 0.4123}}};
  DrawBar(line, {.width = 74});
  DescribeProgress(line);
  if (IsTerminal(stderr)) Draw(TerminalWidth(stderr));
  SecondsClock clock = SteadySeconds;
  const double start = clock();
  EXPECT_LE(start, clock());
}

}  // namespace
}  // namespace trainyard

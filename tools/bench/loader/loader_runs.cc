#include "tools/bench/loader/loader_runs.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "trainer/data/batch.h"
#include "trainer/data/datasets/map.h"
#include "trainer/data/images/image_folder.h"
#include "trainer/data/item_dataset.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/data/transforms/normalize.h"
#include "trainer/or_throw.h"

namespace trainyard {
namespace {

constexpr int64_t kRows = 60000;
constexpr int64_t kBatch = 128;
constexpr double kMean = 0.1307, kDeviation = 0.3081;
constexpr std::chrono::microseconds kItemWork(50);

using Clock = std::chrono::steady_clock;

// Counts samples from the first batch on, without the start-up time.
class Meter {
 public:
  void Take(const at::Tensor& images, const at::Tensor& labels) {
    // Reads both tensors, so that lazy work is counted.
    seen_ = images.data_ptr<float>()[0] + static_cast<float>(labels.size(0));
    if (start_) {
      rows_ += images.size(0);
    } else {
      start_ = Clock::now();
      start_work_ = std::clock();
    }
  }
  LoaderRate PerSecond() const {
    const std::chrono::duration<double> time = Clock::now() - *start_;
    const double work = static_cast<double>(std::clock() - start_work_) /
                        static_cast<double>(CLOCKS_PER_SEC);
    const auto rows = static_cast<double>(rows_);
    return {rows / time.count(), rows / work};
  }

 private:
  std::optional<Clock::time_point> start_;
  std::clock_t start_work_ = 0;
  int64_t rows_ = 0;
  volatile float seen_ = 0;
};

struct Images {
  at::Tensor bytes = torch::randint(0, 256, {kRows, 28, 28}, torch::kUInt8);
  at::Tensor labels = torch::randint(0, 10, {kRows}, torch::kInt64);
};
using ImagesPtr = std::shared_ptr<const Images>;

at::Tensor Normalized(const at::Tensor& bytes) {
  return bytes.to(torch::kFloat32).div_(255).sub_(kMean).div_(kDeviation);
}

// libtorch's loader: one tensor per sample, stacked.
struct LibtorchImages : torch::data::datasets::Dataset<LibtorchImages> {
  explicit LibtorchImages(ImagesPtr source) : images(std::move(source)) {}
  torch::data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {Normalized(images->bytes[i]), images->labels[i]};
  }
  std::optional<size_t> size() const override { return kRows; }
  ImagesPtr images;
};

LoaderRun Libtorch(const ImagesPtr& images, size_t workers) {
  return {
      "libtorch" + std::to_string(workers),
      "torch::data::DataLoader, workers: " + std::to_string(workers),
      [images, workers] {
        const auto loader =
            torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
                LibtorchImages(images).map(torch::data::transforms::Stack<>()),
                torch::data::DataLoaderOptions().batch_size(kBatch).workers(
                    workers));
        Meter meter;
        for (const auto& batch : *loader) meter.Take(batch.data, batch.target);
        return meter.PerSecond();
      }};
}

// A lower bound with ATen's functions.
LoaderRun Bare(const ImagesPtr& images) {
  return {"bare", "index_select, then convert: a bare loop", [images] {
            constexpr double kScale = 1 / (255 * kDeviation);
            constexpr double kShift = kMean / kDeviation;
            const at::Tensor order = torch::randperm(kRows);
            Meter meter;
            for (int64_t i = 0; i < kRows; i += kBatch) {
              const at::Tensor rows = order.slice(0, i, i + kBatch);
              meter.Take(images->bytes.index_select(0, rows)
                             .to(torch::kFloat32)
                             .mul_(kScale)
                             .sub_(kShift),
                         images->labels.index_select(0, rows));
            }
            return meter.PerSecond();
          }};
}

LoaderRun BareFloats(const ImagesPtr& images) {
  return {"bare_floats", "index_select of floats made before: a bare loop",
          [images] {
            const at::Tensor floats = Normalized(images->bytes);
            const at::Tensor order = torch::randperm(kRows);
            Meter meter;
            for (int64_t i = 0; i < kRows; i += kBatch) {
              const at::Tensor rows = order.slice(0, i, i + kBatch);
              meter.Take(floats.index_select(0, rows),
                         images->labels.index_select(0, rows));
            }
            return meter.PerSecond();
          }};
}

LoaderRun Ours(const std::string& name, const std::string& what,
               const DatasetPtr& data, int64_t workers,
               int64_t batch_size = kBatch) {
  const auto loader = std::make_shared<Loader>(
      data, std::make_shared<ShuffledSampler>(data->size(), 1),
      LoaderOptions{.batch_size = batch_size, .num_workers = workers});
  const auto epoch = std::make_shared<int64_t>(0);
  return {name, what, [loader, epoch] {
            Meter meter;
            loader->StartEpoch((*epoch)++);
            while (const std::optional<AnyBatch> batch = loader->Next()) {
              const Example& example = batch->As<Example>();
              meter.Take(example.input, example.target);
            }
            return meter.PerSecond();
          }};
}

// The floats are made for the first epoch: other runs go without their memory.
LoaderRun OursFloats(const ImagesPtr& images) {
  const auto made = std::make_shared<std::optional<LoaderRun>>();
  const std::string name = "trainyard_floats";
  const std::string what = "Loader, floats made before";
  return {name, what, [=] {
            if (!*made) {
              *made = Ours(name, what,
                           MakeTensorDataset(Example{Normalized(images->bytes),
                                                     images->labels}),
                           0);
            }
            return (*made)->epoch();
          }};
}

// Keeps a core busy, as decoding an image would.
Example SlowItem(const Images& images, int64_t i) {
  const Clock::time_point end = Clock::now() + kItemWork;
  Example item{Normalized(images.bytes[i]), images.labels[i]};
  while (Clock::now() < end) {
  }
  return item;
}

}  // namespace

std::vector<LoaderRun> LoaderRuns(int64_t items) {
  const auto images = std::make_shared<const Images>();
  const Normalize normalize({.mean = {kMean}, .deviation = {kDeviation}});
  const DatasetPtr bytes_data = MakeTensorDataset(
      Example{images->bytes, images->labels},
      [normalize](Example e) { return Example{normalize(e.input), e.target}; });
  const DatasetPtr slow = MakeItemDataset<Example>(
      items, [images](int64_t i) { return SlowItem(*images, i); });
  std::vector<LoaderRun> runs = {
      Libtorch(images, 0),
      Libtorch(images, 2),
      Bare(images),
      Ours("trainyard", "Loader, bytes, Normalize", bytes_data, 0),
      Ours("trainyard2", "Loader, bytes, Normalize, workers: 2", bytes_data, 2),
      BareFloats(images),
      OursFloats(images)};
  for (const int64_t workers : {0, 1, 2}) {
    runs.push_back(
        Ours("items" + std::to_string(workers),
             "Loader, items of 50 us, workers: " + std::to_string(workers),
             slow, workers));
  }
  return runs;
}

std::vector<LoaderRun> JpegRuns(const std::string& folder) {
  const Normalize normalize(
      {.mean = {kMean, kMean, kMean},
       .deviation = {kDeviation, kDeviation, kDeviation}});
  const DatasetPtr images = MapBatches<Example>(
      OrThrow(OpenImageFolder(folder, {})).data,
      [normalize](const Example& bytes) {
        return Example{normalize(bytes.input), bytes.target};
      });
  std::vector<LoaderRun> runs;
  for (const int64_t workers : {0, 2}) {
    runs.push_back(
        Ours("jpeg" + std::to_string(workers),
             "Loader, JPEG files, workers: " + std::to_string(workers), images,
             workers, /*batch=*/32));
  }
  return runs;
}

}  // namespace trainyard

// Measures memory and throughput of a shuffled epoch over a memory-mapped file
// of records, which it writes first and deletes afterwards:
//
//   tools/bazel run //tools/bench/loader:mapped_records -- --gigabytes=8
//
// Each record begins with its number, to check that the epoch has each record
// exactly once.
#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <absl/flags/flag.h>
#include <absl/strings/str_format.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/parse_flags.h"
#include "trainer/data/datasets/record_file.h"
#include "trainer/data/loader.h"
#include "trainer/data/sampler.h"
#include "trainer/main.h"

ABSL_FLAG(std::string, path, "/tmp/trainyard_mapped_records.bin",
          "The file; it must not exist.");
ABSL_FLAG(double, gigabytes, 8, "Its size, in units of 1e9 bytes.");
ABSL_FLAG(int64_t, record_bytes, 4096, "Bytes of a record; a multiple of 8.");
ABSL_FLAG(int64_t, workers, 2, "Worker threads of the loader.");

namespace {

// A line of /proc/self/status, in megabytes: RssAnon is the process's own
// memory, RssFile are pages of files, which the system may drop at any time.
double StatusMegabytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(key + ":"))
      return std::stod(line.substr(key.size() + 1)) / 1e3;
  }
  return 0;
}

void Write(const std::string& path, int64_t records, int64_t record_bytes) {
  TORCH_CHECK_VALUE(!std::ifstream(path).good(), path, " is there already");
  std::vector<int64_t> record(static_cast<size_t>(record_bytes / 8));
  std::ofstream file(path, std::ios::binary);
  for (int64_t i = 0; i < records; ++i) {
    for (size_t k = 0; k < record.size(); ++k)
      record[k] = i + static_cast<int64_t>(k) * 1000003;
    file.write(reinterpret_cast<const char*>(record.data()), record_bytes);
  }
  file.close();
  TORCH_CHECK(file.good(), path, " cannot be written");
}

int Measure(const std::string& path, int64_t records, int64_t record_bytes) {
  const trainyard::DatasetPtr data =
      trainyard::OpenRecordFile(
          path, {.fields = {{"values", at::kLong, {record_bytes / 8}}}})
          .value();
  trainyard::Loader loader(
      data, std::make_shared<trainyard::ShuffledSampler>(records, 1),
      {.batch_size = 128, .num_workers = absl::GetFlag(FLAGS_workers)});
  const double before = StatusMegabytes("RssAnon");
  double most = before;
  at::Tensor seen = at::zeros({records}, at::kByte);
  const auto start = std::chrono::steady_clock::now();
  loader.StartEpoch(0);
  for (int64_t count = 0; const auto batch = loader.Next(); ++count) {
    const at::Tensor& values = batch->As<trainyard::MapBatch>().at("values");
    seen.index_add_(0, values.select(1, 0),
                    at::zeros({values.size(0)}, at::kByte).add_(1));
    if (count % 512 == 0) most = std::max(most, StatusMegabytes("RssAnon"));
  }
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - start;
  const bool each_once = seen.eq(1).all().item<bool>();
  const auto bytes = static_cast<double>(records * record_bytes);
  absl::PrintF(
      "%d records of %d bytes, %.1f GB, shuffled: %s\n"
      "%.0f samples/s, %.2f GB/s\n"
      "own memory of the process grew by at most %.0f MB (to %.0f MB); "
      "mapped pages of the page cache at the end: %.0f MB\n",
      records, record_bytes, bytes / 1e9,
      each_once ? "each exactly once" : "NOT each exactly once",
      static_cast<double>(records) / time.count(), bytes / 1e9 / time.count(),
      most - before, most, StatusMegabytes("RssFile"));
  return each_once && most - before < 300 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::ParseFlags(argc, argv, "measures a loader over a mapped file");
  return trainyard::Main([] {
    const std::string path = absl::GetFlag(FLAGS_path);
    const int64_t record_bytes = absl::GetFlag(FLAGS_record_bytes);
    const auto records =
        static_cast<int64_t>(absl::GetFlag(FLAGS_gigabytes) * 1e9 /
                             static_cast<double>(record_bytes));
    Write(path, records, record_bytes);
    const std::unique_ptr<const char, int (*)(const char*)> deleted(
        path.c_str(), [](const char* name) { return std::remove(name); });
    return Measure(path, records, record_bytes);
  });
}

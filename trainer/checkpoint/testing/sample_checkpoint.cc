#include "trainer/checkpoint/testing/sample_checkpoint.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <variant>

#include "trainer/checkpoint/state_crc32c.h"
#include "trainer/state_tensor.h"

namespace trainyard {
namespace {

struct Describer {
  std::ostream& out;

  void operator()(const std::shared_ptr<const at::Tensor>& value) const {
    out << "tensor " << StateCrc32c({{"", *value}});
  }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    out << "list";
    for (const T value : values) out << " " << value;
  }
  template <class T>
  void operator()(const T& value) const {
    out << value;
  }
};

}  // namespace

Checkpoint SampleCheckpoint(int64_t step) {
  const auto number = static_cast<double>(step);
  Checkpoint checkpoint{.step = step, .epoch = step / 10, .samples = 32 * step};
  checkpoint.tensors["model"] = {
      {"layer.weight", at::arange(12, at::kFloat).view({3, 4}).t().add(number)},
      {"layer.bias", at::full({4}, number, at::kDouble)},
      {"running", at::full({}, step, at::kLong)},
      {"mask", at::arange(5, at::kLong).ge(step % 5)},
      {"empty", at::full({0, 3}, 0, at::kHalf)}};
  checkpoint.tensors["optimizer"] = {
      {"layer.weight/exp_avg", at::arange(12, at::kFloat).mul(number)},
      {"layer.weight/step", at::full({}, number, at::kFloat)}};
  State state(3);
  state.Set("whole", step - 100);
  state.Set("number", number / 3);
  state.Set("text", std::string("a\0b\xff", 4));
  state.Set("wholes", std::vector<int64_t>{step, INT64_MIN});
  state.Set("numbers", std::vector<double>{0.1, number});
  SetTensor(state, "tensor", at::arange(7, at::kByte).add(step % 100));
  checkpoint.parts = {{"empty", State()}, {"part", state}};
  checkpoint.metrics = {{"eval_loss", 1 / (1 + number)}};
  checkpoint.config = {{"lr", "0.1"}, {"seed", "7"}};
  return checkpoint;
}

std::string Describe(const Checkpoint& checkpoint) {
  std::ostringstream out;
  out << std::hexfloat << checkpoint.step << " " << checkpoint.epoch << " "
      << checkpoint.samples << " " << checkpoint.finished << "\n";
  for (auto [group, tensors] : checkpoint.tensors) {
    std::sort(tensors.begin(), tensors.end(),
              [](const NamedTensor& a, const NamedTensor& b) {
                return a.name < b.name;
              });
    out << group << " " << tensors.size() << " " << StateCrc32c(tensors)
        << "\n";
  }
  for (const auto& [name, state] : checkpoint.parts) {
    out << name << " version " << state.version() << "\n";
    for (const auto& [key, value] : state.values()) {
      out << "  " << key << " kind " << value.index() << " ";
      std::visit(Describer{out}, value);
      out << "\n";
    }
  }
  for (const auto& [name, value] : checkpoint.metrics) {
    out << name << "=" << value << "\n";
  }
  for (const auto& [name, value] : checkpoint.config) {
    out << name << "=" << value << "\n";
  }
  return out.str();
}

std::string TestFolder() {
  const auto* const test =
      ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void FlipBit(const std::string& path, uint64_t byte, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const int old = file.get();
  ASSERT_NE(old, EOF) << path << " has no byte " << byte;
  file.seekp(static_cast<std::streamoff>(byte));
  file.put(static_cast<char>(old ^ (1 << bit)));
}

}  // namespace trainyard

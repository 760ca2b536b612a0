#include "tools/launch/testing/test_rank.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace trainyard {
namespace {

constexpr char kDeviceVariable[] = "TRAINYARD_TEST_DEVICE";

int Number(const char* name) {
  const char* value = std::getenv(name);
  if (value != nullptr) return std::atoi(value);
  std::fprintf(stderr, "%s is not set: start this test by tools/launch\n",
               name);
  std::exit(1);
}

}  // namespace

int TestRank() { return Number("RANK"); }

int TestWorldSize() { return Number("WORLD_SIZE"); }

int TestLocalWorldSize() { return Number("LOCAL_WORLD_SIZE"); }

std::string TestDevice() {
  const char* kind = std::getenv(kDeviceVariable);
  if (kind == nullptr || std::string(kind) == "cpu") return "cpu";
  const char* rank = std::getenv("LOCAL_RANK");
  return std::string(kind) + ":" + (rank == nullptr ? "0" : rank);
}

void SetTestDevice(const std::string& kind) {
  setenv(kDeviceVariable, kind.c_str(), 1);
}

}  // namespace trainyard

// A stand-in for an accelerator, for tests on machines without one. It is a
// device of libtorch (PrivateUse1) that computes on the CPU but follows the
// rules of CUDA, and reports code that breaks them:
//
//   - Its memory is closed outside of kernels: a host that reads or writes it
//     faults, with a message that names the block.
//   - Work belongs to streams. Memory that two streams use without waiting for
//     each other is a race, and is reported with the operators and streams.
//   - Copies to and from page-locked memory are asynchronous if they are
//     non-blocking. Until the host has waited for such a copy, it faults on
//     the page-locked memory as well.
//   - Tensors on different devices do not mix, except for scalars on the host
//     where CUDA accepts them.
//   - New memory holds NaN. Freed memory is closed.
//
//   RegisterStandIn();
//   const at::Tensor x = at::ones({2, 3}, StandInDevice());
//   ResetStandInCounts();
//   const at::Tensor y = x.mul(2).sum();
//   EXPECT_EQ(StandInCounts().synchronizations, 0);
//   EXPECT_EQ(y.item<double>(), 12);
//   EXPECT_EQ(StandInCounts().synchronizations, 1);
//   EXPECT_THAT(TakeStandInErrors(), IsEmpty());
//
// Kernels run at once, in the calling thread; the order of streams is checked,
// not played. README.md has the limits. Thread-safe.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_H_

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backends/testing/standin/standin_count.h"

namespace trainyard {

// Makes the device known to libtorch as "standin", with 8 devices in this
// process. From then on it is the process's accelerator. Call it before the
// first backward pass. Later calls do nothing.
void RegisterStandIn();
bool StandInIsRegistered();

at::Device StandInDevice(int index = 0);

// Since the last reset, over all devices of the process.
StandInCount StandInCounts();
void ResetStandInCounts();
// Work that was ever launched in this process.
int64_t StandInLaunches();
// The operators that made the host wait, in order, since the last reset.
std::vector<std::string> StandInSynchronizations();

// Returns the errors since the last call. A test program with the main function
// of test_device_main fails each test case that leaves errors behind.
std::vector<std::string> TakeStandInErrors();

// An event counts as done for a host that asks (c10::Event::query) once so
// much more work was launched after it. Default 3.
void SetStandInLag(int64_t launches);

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_H_

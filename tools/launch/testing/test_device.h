// UseTestDevice prepares a test program for the device that TestDevice() names:
//
//   cpu      hides CUDA devices, so that nothing takes one by default.
//   standin  registers the stand-in (backends/testing/standin). A test case that
//            leaves errors of the stand-in behind fails.
//   cuda     skips all test cases, with the reason, if there are fewer devices
//            than ranks.
//
// Call it once, before any test case and any other use of libtorch.
#ifndef TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_DEVICE_H_
#define TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_DEVICE_H_

namespace trainyard {

// Reads --device=cpu, --device=standin or --device=cuda from the arguments.
// `ranks` run on this host, each on a device of its own.
void UseTestDevice(int argc, char** argv, int ranks);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_DEVICE_H_

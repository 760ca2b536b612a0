// TestDeviceMain is the main function of tests of one process that run on
// several devices: trainyard_cc_test(devices = …). TestDevice() in test_rank.h
// names the device. Fails on the stand-in if no test case used it.
#ifndef TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_DEVICE_MAIN_H_
#define TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_DEVICE_MAIN_H_

namespace trainyard {

// Arguments: GoogleTest's, and --device=cpu, --device=standin or --device=cuda.
int TestDeviceMain(int argc, char** argv);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_DEVICE_MAIN_H_

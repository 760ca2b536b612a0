// TestRankMain is the main function of every rank of a distributed_test.
//
// Fails if no test case was selected. Only rank 0 writes Bazel's XML file.
#ifndef TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_MAIN_H_
#define TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_MAIN_H_

namespace trainyard {

// Arguments: GoogleTest's, and --device=cpu, --device=standin or --device=cuda.
int TestRankMain(int argc, char** argv);

}  // namespace trainyard

#endif  // TRAINYARD_TOOLS_LAUNCH_TESTING_TEST_RANK_MAIN_H_

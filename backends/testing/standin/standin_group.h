// A process group on the stand-in with the rules of NCCL: a collective is
// enqueued on a stream of the group and returns at once; wait() makes the
// caller's stream wait, not the host; every rank makes the same calls in the
// same order, each on a device of its own; ranks that disagree hang until the
// watchdog names them. The data go through gloo.
//
// Since kernels of the stand-in run at once, wait() returns only when the
// result is there; it is not counted as a synchronization. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_GROUP_H_
#define TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_GROUP_H_

namespace trainyard {

// Makes ProcessGroup use it for tensors on the stand-in. Later calls do
// nothing.
void RegisterStandInGroup();

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_TESTING_STANDIN_STANDIN_GROUP_H_

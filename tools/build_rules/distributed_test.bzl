"""Tests that run as several cooperating ranks. Load it from trainyard.bzl."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("@rules_shell//shell:sh_test.bzl", "sh_test")
load("//tools/build_rules:checks.bzl", "check_devices", "check_target", "compiled_target", "device_attributes")

# The launcher of the ranks, and their main. Label() makes these work from other workspaces and modules.
_GTEST = Label("@com_google_googletest//:gtest")
_LAUNCHER = Label("//tools/launch:launch_only")
_MAIN = Label("//tools/launch/testing:test_rank_main")

def distributed_test(name, srcs, deps = [], world_sizes = [1, 2, 4], devices = ["cpu"], size = "medium", tags = [], over_gloo = False, **kwargs):
    """A GoogleTest program that runs as 1, 2 and 4 ranks, on every device that is named.

        distributed_test(
            name = "gather_test",
            srcs = ["gather_test.cc"],
            devices = ["cpu", "standin", "cuda"],
            deps = [":gather"],
        )

    makes the program gather_ranks; the tests gather_cpu_1_test, gather_cpu_2_test,
    gather_cpu_4_test and gather_cuda_1_test, ...; and the suite gather_test of them all.

    Each rank runs all test cases and must pass them. It reads its rank from RANK and the
    other variables of tools/launch, and its device from TestDevice() in
    tools/launch/testing/test_rank.h. When one rank fails, the others are terminated. "standin"
    is a device for tests without a GPU: see backends/testing/standin. Tests on CUDA have the
    tag gpu, those of several ranks multi_gpu. They are skipped without --config=cuda, and
    with it, with the reason, if there are fewer devices than ranks.

    Args:
      name: ends in _test.
      srcs: its sources, without a main.
      deps: libraries that they include, without GoogleTest.
      world_sizes: numbers of ranks.
      devices: of "cpu", "standin" and "cuda".
      size: Bazel's test size.
      tags: tags of every test.
      over_gloo: whether there are also tests gather_cpu_2_gloo_test, ... whose ranks exchange CPU
        tensors by gloo instead of shared memory.
      **kwargs: passed on to the program's cc_binary.
    """
    check_target("distributed_test", name, kwargs, "_test")
    if not world_sizes or not devices:
        fail("distributed_test({}): world_sizes and devices must not be empty".format(name))
    check_devices("distributed_test", name, devices)
    for n in world_sizes:
        if type(n) != "int" or n < 1:
            fail("distributed_test({}): invalid number of ranks: {}".format(name, n))

    base = name[:-len("_test")]
    program = base + "_ranks"
    deps = deps + [_MAIN, _GTEST]
    compiled_target(cc_binary, program, srcs, deps, testonly = True, **kwargs)
    tests = []
    for device in devices:
        for n in world_sizes:
            transports = [("", {})]
            if over_gloo and device == "cpu" and n > 1:
                transports.append(("_gloo", {"TRAINYARD_SHARED_MEMORY": "0"}))
            for suffix, env in transports:
                test = "{}_{}_{}{}_test".format(base, device, n, suffix)
                tests.append(test)
                sh_test(
                    name = test,
                    size = size,
                    srcs = [_LAUNCHER],
                    args = ["--nproc={}".format(n), "--", "$(rootpath :{})".format(program), "--device=" + device],
                    data = [":" + program],
                    env = env,
                    **device_attributes(device, n, tags + ["cpu:{}".format(n)])
                )
    native.test_suite(
        name = name,
        tests = tests,
        # `...` contains the tests themselves, so that tags select among them.
        tags = ["manual"],
    )

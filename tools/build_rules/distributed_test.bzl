"""Tests that run as several cooperating ranks. Load it from trainyard.bzl."""

load("//tools/build_rules:checks.bzl", "check_target", "compiled")

# What runs the ranks, and their main. Labels, so that they are found from other workspaces.
_LAUNCHER = Label("//tools/launch:launch_only")
_MAIN = Label("//tools/launch/testing:test_rank_main")
_CUDA = str(Label("//third_party:cuda"))
_DEVICES = ["cpu", "cuda"]

def distributed_test(name, srcs, deps = [], world_sizes = [1, 2, 4], devices = ["cpu"], size = "medium", tags = [], **kwargs):
    """A GoogleTest program that runs as 1, 2 and 4 ranks, on CPUs and on CUDA devices.

        distributed_test(
            name = "gather_test",
            srcs = ["gather_test.cc"],
            devices = ["cpu", "cuda"],
            deps = [":gather"],
        )

    makes the program gather_ranks; the tests gather_cpu_1_test, gather_cpu_2_test,
    gather_cpu_4_test and gather_cuda_1_test, ...; and the suite gather_test of them all.

    Each rank runs all test cases and must pass them; it reads its place from RANK and the
    other variables of tools/launch, and its device from TestDevice() in
    tools/launch/testing/test_rank.h. When one fails, the others are ended. CUDA tests are
    skipped, never passed, without --config=cuda; with it they fail if there are fewer
    devices than ranks.

    Args:
      name: ends in _test.
      srcs: its sources, without a main.
      deps: what they include, without GoogleTest.
      world_sizes: numbers of ranks.
      devices: of "cpu" and "cuda".
      size: Bazel's test size.
      tags: tags of every test.
      **kwargs: passed on to the program's cc_binary.
    """
    check_target("distributed_test", name, kwargs, "_test")
    if not world_sizes or not devices:
        fail("distributed_test({}): world_sizes and devices must not be empty".format(name))
    for device in devices:
        if device not in _DEVICES:
            fail("distributed_test({}): no such device: {}; there are {}".format(name, device, _DEVICES))
    for n in world_sizes:
        if type(n) != "int" or n < 1:
            fail("distributed_test({}): no such number of ranks: {}".format(name, n))

    base = name[:-len("_test")]
    program = base + "_ranks"
    attributes = compiled(deps + [_MAIN, "@com_google_googletest//:gtest"], testonly = True)
    attributes.update(kwargs)
    native.cc_binary(
        name = program,
        testonly = True,
        srcs = srcs,
        **attributes
    )
    tests = []
    for device in devices:
        for n in world_sizes:
            test = "{}_{}_{}_test".format(base, device, n)
            tests.append(test)
            native.sh_test(
                name = test,
                size = size,
                srcs = [_LAUNCHER],
                args = ["--nproc={}".format(n), "--", "$(rootpath :{})".format(program), "--device=" + device],
                data = [":" + program],
                # Every CUDA test takes the devices for itself.
                tags = tags + ["cpu:{}".format(n)] + (["cuda", "exclusive"] if device == "cuda" else []),
                target_compatible_with = select({
                    _CUDA: [],
                    "//conditions:default": ["@platforms//:incompatible"],
                }) if device == "cuda" else [],
            )
    native.test_suite(
        name = name,
        tests = tests,
        # Not for `...`, which has the tests themselves: tags then select among those.
        tags = ["manual"],
    )

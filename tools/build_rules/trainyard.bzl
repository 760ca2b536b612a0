"""The only file that BUILD files load for C++: every C++ target is made here.

    load("//tools/build_rules:trainyard.bzl", "trainyard_cc_library", "trainyard_cc_test")

One header, one library, one test, with the same name; the test follows the library.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("@rules_shell//shell:sh_test.bzl", "sh_test")
load("//tools/build_rules:checks.bzl", "check_devices", "check_target", "compiled", "compiled_target", "device_attributes")
load("//tools/build_rules:distributed_test.bzl", _distributed_test = "distributed_test")

# Tests of several ranks: see distributed_test.bzl.
distributed_test = _distributed_test

# Label() makes these work from other workspaces and modules.
_BENCHMARK_MAIN = Label("@com_github_google_benchmark//:benchmark_main")
_GTEST = Label("@com_google_googletest//:gtest")
_GTEST_MAIN = Label("@com_google_googletest//:gtest_main")

# The main function of tests on several devices.
_DEVICE_MAIN = Label("//tools/launch/testing:test_device_main")

def trainyard_cc_library(name, hdrs = [], srcs = [], deps = [], testonly = False, **kwargs):
    """A C++ library: `name`, with `name.h` among its headers.

    Args:
      name: the target's name; its header is <name>.h.
      hdrs: its headers.
      srcs: its sources.
      deps: libraries that its headers and sources include.
      testonly: whether only tests use it.
      **kwargs: passed on to cc_library.
    """
    check_target("trainyard_cc_library", name, kwargs)
    if name + ".h" not in hdrs:
        fail("trainyard_cc_library: {n} needs the header {n}.h".format(n = name))

    if srcs:
        compiled_target(cc_library, name, srcs, deps, testonly, hdrs = hdrs, **kwargs)
    else:
        # Compiles nothing, so it needs no precompiled header.
        cc_library(name = name, hdrs = hdrs, deps = deps, testonly = testonly, **kwargs)

def trainyard_cc_test(name, srcs, deps = [], size = "small", devices = ["cpu"], tags = [], **kwargs):
    """A GoogleTest program: `name`, with its main linked in.

    With devices = ["cpu", "standin", "cuda"], x_test runs on the CPU, and the same program runs
    as x_standin_test and x_cuda_test: TestDevice() in tools/launch/testing/test_rank.h names
    the device, and a backend takes it by default. distributed_test has more on devices.

    Args:
      name: ends in _test.
      srcs: its sources.
      deps: libraries that it includes, without GoogleTest.
      size: Bazel's test size.
      devices: "cpu", and of "standin" and "cuda".
      tags: tags of every test.
      **kwargs: passed on to cc_test.
    """
    check_target("trainyard_cc_test", name, kwargs, "_test")
    check_devices("trainyard_cc_test", name, devices)
    if "cpu" not in devices:
        fail("trainyard_cc_test({}): devices must have \"cpu\"".format(name))
    main = _GTEST_MAIN
    env = kwargs.pop("env", {})
    if len(devices) == 1:
        # A backend takes a GPU by default, if it sees one.
        env = dict(env, CUDA_VISIBLE_DEVICES = "")
    else:
        main = _DEVICE_MAIN
        deps = deps + [_GTEST]
    compiled_target(cc_test, name, srcs, deps + [main], testonly = True, size = size, tags = tags, env = env, **kwargs)
    for device in devices:
        if device == "cpu":
            continue
        sh_test(
            name = "{}_{}_test".format(name[:-len("_test")], device),
            size = size,
            srcs = [":" + name],
            args = kwargs.get("args", []) + ["--device=" + device],
            data = [":" + name] + kwargs.get("data", []),
            env = env,
            **device_attributes(device, 1, tags)
        )

def trainyard_cc_binary(name, srcs, deps = [], testonly = False, **kwargs):
    """A program.

    Args:
      name: the program's name.
      srcs: its sources.
      deps: libraries that it includes.
      testonly: whether only tests run it.
      **kwargs: passed on to cc_binary.
    """
    check_target("trainyard_cc_binary", name, kwargs)
    compiled_target(cc_binary, name, srcs, deps, testonly, **kwargs)

def trainyard_cc_benchmark(name, srcs, deps = [], args = [], **kwargs):
    """A Google Benchmark program, and a test that runs it once.

    Makes `name`, to run by hand with `tools/bazel run`, and `<name>_smoke_test`, which
    runs every benchmark once without measuring.

    Args:
      name: ends in _benchmark.
      srcs: its sources.
      deps: libraries that it includes, without Google Benchmark.
      args: arguments of both programs.
      **kwargs: passed on to cc_binary and cc_test.
    """
    check_target("trainyard_cc_benchmark", name, kwargs, "_benchmark")

    # Compiled once for both, with optimisation although only tests use it.
    code = name + "_code"
    deps = deps + [_BENCHMARK_MAIN]
    attributes = dict(compiled(deps), alwayslink = True, tags = ["manual"])
    cc_library(name = code, srcs = srcs, testonly = True, **attributes)
    cc_binary(
        name = name,
        testonly = True,
        args = args,
        linkstatic = True,
        tags = ["benchmark"],
        deps = [":" + code],
        **kwargs
    )
    cc_test(
        name = name + "_smoke_test",
        size = "small",
        # Google Benchmark 1.7 takes the time without a unit.
        args = args + ["--benchmark_min_time=0"],
        linkstatic = True,
        deps = [":" + code],
        **kwargs
    )

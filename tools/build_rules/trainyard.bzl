"""The one file that BUILD files load: every C++ target passes through it.

    load("//tools/build_rules:trainyard.bzl", "trainyard_cc_library", "trainyard_cc_test")

One header, one library, one test, named for what it is; the test follows the library.
"""

load("//tools/build_rules:checks.bzl", "check_target", "compiled")
load("//tools/build_rules:distributed_test.bzl", _distributed_test = "distributed_test")

# Tests of several ranks: see distributed_test.bzl.
distributed_test = _distributed_test

def trainyard_cc_library(name, hdrs = [], srcs = [], deps = [], testonly = False, **kwargs):
    """A C++ library: `name`, with `name.h` among its headers.

    Args:
      name: what it is; the header is named for it.
      hdrs: its headers.
      srcs: its sources.
      deps: what its headers and sources include.
      testonly: whether only tests use it.
      **kwargs: passed on to cc_library.
    """
    check_target("trainyard_cc_library", name, kwargs)
    if name + ".h" not in hdrs:
        fail("trainyard_cc_library: {n} needs the header {n}.h".format(n = name))

    # A target without sources compiles nothing: it needs no precompiled header.
    attributes = compiled(deps, testonly) if srcs else {"deps": deps}
    attributes.update(kwargs)
    native.cc_library(
        name = name,
        hdrs = hdrs,
        srcs = srcs,
        testonly = testonly,
        **attributes
    )

def trainyard_cc_test(name, srcs, deps = [], size = "small", **kwargs):
    """A GoogleTest program: `name`, with its main linked in.

    Args:
      name: ends in _test.
      srcs: its sources.
      deps: what it includes, without GoogleTest.
      size: Bazel's test size.
      **kwargs: passed on to cc_test.
    """
    check_target("trainyard_cc_test", name, kwargs, "_test")
    attributes = compiled(deps + ["@com_google_googletest//:gtest_main"], testonly = True)
    attributes.update(kwargs)
    native.cc_test(
        name = name,
        srcs = srcs,
        size = size,
        **attributes
    )

def trainyard_cc_binary(name, srcs, deps = [], testonly = False, **kwargs):
    """A thin program: flags, wiring, run, exit code.

    Args:
      name: what it is called.
      srcs: its sources.
      deps: what it includes.
      testonly: whether only tests run it.
      **kwargs: passed on to cc_binary.
    """
    check_target("trainyard_cc_binary", name, kwargs)
    attributes = compiled(deps, testonly)
    attributes.update(kwargs)
    native.cc_binary(
        name = name,
        srcs = srcs,
        testonly = testonly,
        **attributes
    )

def trainyard_cc_benchmark(name, srcs, deps = [], args = [], **kwargs):
    """A Google Benchmark program, and a test that keeps it alive.

    Makes `name`, run by hand with `tools/bazel run`, and `<name>_smoke_test`, which
    runs every benchmark once and measures nothing.

    Args:
      name: ends in _benchmark.
      srcs: its sources.
      deps: what it includes, without Google Benchmark.
      args: arguments of both programs.
      **kwargs: passed on to cc_binary and cc_test.
    """
    check_target("trainyard_cc_benchmark", name, kwargs, "_benchmark")

    # Compiled once for both, and optimised.
    code = name + "_code"
    attributes = compiled(deps + ["@com_github_google_benchmark//:benchmark_main"])
    native.cc_library(
        name = code,
        testonly = True,
        srcs = srcs,
        alwayslink = True,
        tags = ["manual"],
        **attributes
    )
    native.cc_binary(
        name = name,
        testonly = True,
        args = args,
        linkstatic = True,
        tags = ["benchmark"],
        deps = [":" + code],
        **kwargs
    )
    native.cc_test(
        name = name + "_smoke_test",
        size = "small",
        # Google Benchmark 1.7 takes the time without a unit.
        args = args + ["--benchmark_min_time=0"],
        linkstatic = True,
        deps = [":" + code],
        **kwargs
    )

"""Shared by all macros of trainyard.bzl."""

# libtorch's headers and designated initialisers need C++20.
COPTS = ["-std=c++20"]

# Code that only tests run is not optimised: optimisation is more than half of the compile time.
TEST_COPTS = [
    "-O0",
    "-U_FORTIFY_SOURCE",
]

_HERE = Label("//tools/build_rules/precompiled:headers")
_FOLDER = (_HERE.workspace_root + "/" if _HERE.workspace_root else "") + _HERE.package
_PRECOMPILED = str(Label("//third_party/clang:is_compiler"))

def check_target(macro, name, kwargs, suffix = ""):
    """Fails on a name or an argument that the facade does not allow.

    Args:
      macro: the calling macro, for the message.
      name: the target's name.
      kwargs: attributes that are passed on to the native rule.
      suffix: required end of the name; by default it must not be that of a test or benchmark.
    """
    if suffix and not name.endswith(suffix):
        fail("{}: the name must end in {}: {}".format(macro, suffix, name))
    if not suffix and (name.endswith("_test") or name.endswith("_benchmark")):
        fail("{}: the name of a library or binary must not end in _test or _benchmark: {}".format(macro, name))
    if name != name.lower():
        fail("{}: names are in snake_case: {}".format(macro, name))
    for key in ["copts", "linkstatic", "includes"]:
        if key in kwargs:
            fail("{}({}): {} is set by tools/build_rules/checks.bzl; remove it".format(macro, name, key))

def _precompiled(deps):
    """The largest precompiled header that files with these dependencies can use."""
    if "@libtorch//:nn" in deps:
        return "nn"
    if "@libtorch//:torch" in deps:
        return "tensor"
    return "plain"

def compiled(deps, testonly = False):
    """The attributes of a rule that compiles: options, dependencies, precompiled header.

    Args:
      deps: libraries that the target's files include.
      testonly: whether only tests run the code.

    Returns:
      a dict of attributes.
    """
    header = _precompiled(deps) + ("_test_code" if testonly else "")
    return {
        "copts": COPTS + (TEST_COPTS if testonly else []) + select({
            _PRECOMPILED: ["-include-pch", "$(BINDIR)/{}/{}.pch".format(_FOLDER, header)],
            "//conditions:default": [],
        }),
        "deps": deps + select({
            _PRECOMPILED: [str(Label("//tools/build_rules/precompiled:" + header))],
            "//conditions:default": [],
        }),
        "linkstatic": True,
    }

def compiled_target(rule, name, srcs, deps, testonly, **kwargs):
    """A target of a native rule, with the attributes of `compiled`.

    Args:
      rule: cc_library, cc_binary or cc_test.
      name: the target's name.
      srcs: its sources.
      deps: libraries that its files include.
      testonly: whether only tests run the code.
      **kwargs: further attributes.
    """
    attributes = compiled(deps, testonly)
    attributes.update(kwargs)
    rule(name = name, srcs = srcs, testonly = testonly, **attributes)

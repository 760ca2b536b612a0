"""What all macros of trainyard.bzl share."""

# C++20: libtorch's headers ask for it, and so do designated initialisers.
COPTS = ["-std=c++20"]

# Code that only tests run is not optimised: that costs more than half of its compilation.
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
      macro: who asks, for the message.
      name: the target's name.
      kwargs: what is passed on to the native rule.
      suffix: how the name must end; by default, unlike a test or benchmark.
    """
    if suffix and not name.endswith(suffix):
        fail("{}: the name must end in {}: {}".format(macro, suffix, name))
    if not suffix and (name.endswith("_test") or name.endswith("_benchmark")):
        fail("{}: the name of a library or binary must not end in _test or _benchmark: {}".format(macro, name))
    if name != name.lower():
        fail("{}: names are in snake_case: {}".format(macro, name))
    for key in ["copts", "linkstatic", "includes"]:
        if key in kwargs:
            fail("{}({}): {} is the facade's business, see tools/build_rules/checks.bzl".format(macro, name, key))

def _precompiled(deps):
    """The precompiled header that serves files with these dependencies best."""
    if "@libtorch//:nn" in deps:
        return "nn"
    if "@libtorch//:torch" in deps:
        return "tensor"
    return "plain"

def compiled(deps, testonly = False):
    """The attributes of every rule that compiles: options, dependencies, precompiled header.

    Args:
      deps: what the target's files include.
      testonly: whether the code is run by tests only.

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

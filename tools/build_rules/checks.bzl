"""What all macros of trainyard.bzl share."""

# C++20: libtorch's headers ask for it, and so do designated initialisers.
COPTS = ["-std=c++20"]

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

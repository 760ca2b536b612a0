"""Lint as tests."""

load("@rules_shell//shell:sh_test.bzl", "sh_test")

def lint_test(name, tools = {}):
    """Runs the check of lint.py that `name` begins with, over the whole source tree.

    Args:
      name: <check>_test.
      tools: flag of lint.py -> label of the program it names.
    """
    if not name.endswith("_test"):
        fail("lint_test: the name must end in _test: " + name)
    sh_test(
        name = name,
        size = "small",
        srcs = ["lint.py"],
        args = [name[:-len("_test")], "$(rootpath //:WORKSPACE)"] + [
            "--{}=$(rootpath {})".format(flag, label)
            for flag, label in tools.items()
        ],
        data = [
            ":checks",
            "//:WORKSPACE",
        ] + tools.values(),
        # Bazel does not know which files are read: run in the source tree, and always.
        tags = [
            "external",
            "local",
        ],
    )

"""The link options of Debian's libabsl-dev, for MODULE.bazel (extension.bzl) and for WORKSPACE (absl.bzl)."""

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "libraries",
    linkopts = {},
    visibility = ["//visibility:public"],
)
"""

def write_libraries(ctx):
    """Writes BUILD.bazel with the target `libraries`.

    Args:
      ctx: the repository rule's context.
    """
    header = "/usr/include/absl/base/config.h"
    if not ctx.path(header).exists:
        fail(("{}: {} is not on this machine. Install Debian's package libabsl-dev (apt-get install libabsl-dev), " +
              "or run tools/bazel as root, which does it.").format(ctx.name, header))
    found = ctx.execute(["sh", "-c", "for f in $(ls -d /usr/lib/*/libabsl_*.so); do basename $f .so; done"])
    libraries = ["-l" + name[len("lib"):] for name in found.stdout.split("\n") if name]

    # The linker keeps what a target uses; no table of Abseil's own libraries is needed.
    options = ["-Wl,--push-state,--as-needed"] + sorted(libraries) + ["-Wl,--pop-state"]
    ctx.file("BUILD.bazel", _BUILD.format(repr(options)))

"""@com_google_absl over Debian's libabsl-dev."""

load("//third_party/debian:debian.bzl", "missing_package_error")

# Package under absl/ -> its public targets (the first one has the package's name
# where upstream has such a target). Extend it when a new label is needed.
_TARGETS = {
    "algorithm": ["algorithm", "container"],
    "base": ["core_headers", "log_severity"],
    "cleanup": ["cleanup"],
    "container": ["btree", "fixed_array", "flat_hash_map", "flat_hash_set", "inlined_vector", "node_hash_map"],
    "debugging": ["failure_signal_handler", "stacktrace", "symbolize"],
    "flags": ["commandlineflag", "config", "flag", "marshalling", "parse", "reflection", "usage"],
    "functional": ["bind_front", "function_ref"],
    "hash": ["hash"],
    "memory": ["memory"],
    "meta": ["type_traits"],
    "numeric": ["bits", "int128"],
    "random": ["random"],
    "status": ["status", "statusor"],
    "strings": ["strings", "cord", "str_format"],
    "synchronization": ["synchronization"],
    "time": ["time"],
    "types": ["any", "optional", "span", "variant"],
    "utility": ["utility"],
}

_LIBRARY = """
cc_library(
    name = "{name}",
    visibility = ["//visibility:public"],
    deps = ["//:libraries"],
)
"""

def _absl_repository_impl(ctx):
    header = "/usr/include/absl/base/config.h"
    if not ctx.path(header).exists:
        fail(missing_package_error(ctx.name, header, "libabsl-dev"))
    found = ctx.execute(["sh", "-c", "for f in $(ls -d /usr/lib/*/libabsl_*.so); do basename $f .so; done"])
    libraries = ["-l" + name[len("lib"):] for name in found.stdout.split("\n") if name]

    # The linker keeps what a target uses; no table of Abseil's own libraries is needed.
    options = ["-Wl,--push-state,--as-needed"] + sorted(libraries) + ["-Wl,--pop-state"]
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.file("BUILD.bazel", """
cc_library(
    name = "libraries",
    linkopts = {},
    visibility = ["//absl:__subpackages__"],
)
""".format(repr(options)))
    for package, names in _TARGETS.items():
        ctx.file("absl/{}/BUILD.bazel".format(package), "".join([_LIBRARY.format(name = name) for name in names]))

absl_repository = repository_rule(
    implementation = _absl_repository_impl,
    configure = True,
    local = True,
)

"""The module extension of MODULE.bazel."""

load(":libraries.bzl", "write_libraries")

_absl_libraries = repository_rule(
    implementation = write_libraries,
    configure = True,
    local = True,
)

def _debian_impl(_ctx):
    _absl_libraries(name = "absl_libraries")

debian = module_extension(implementation = _debian_impl)

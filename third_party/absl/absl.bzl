"""@com_google_absl over Debian's libabsl-dev: the packages of module/, with their link options."""

load("//third_party/absl/module:libraries.bzl", "write_libraries")

def _absl_repository_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.symlink(ctx.path(Label("//third_party/absl/module:BUILD.bazel")).dirname.get_child("absl"), "absl")
    write_libraries(ctx)

absl_repository = repository_rule(
    implementation = _absl_repository_impl,
    configure = True,
    local = True,
)

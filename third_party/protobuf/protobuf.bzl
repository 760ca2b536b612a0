"""@com_google_protobuf over Debian's protobuf-compiler and libprotobuf-dev: the files of module/."""

load("//third_party/debian:debian.bzl", "missing_package_error")

_NEEDED = {
    "/usr/bin/protoc": "protobuf-compiler",
    "/usr/include/google/protobuf/message.h": "libprotobuf-dev",
}

def _protobuf_repository_impl(ctx):
    for path, package in _NEEDED.items():
        if not ctx.path(path).exists:
            fail(missing_package_error(ctx.name, path, package))
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    module = ctx.path(Label("//third_party/protobuf:protobuf.bzl")).dirname.get_child("module")
    for name in ["BUILD.bazel", "bazel", "protoc.sh"]:
        ctx.symlink(module.get_child(name), name)

protobuf_repository = repository_rule(
    implementation = _protobuf_repository_impl,
    configure = True,
    local = True,
)

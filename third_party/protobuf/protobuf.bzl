"""@com_google_protobuf over Debian's protobuf-compiler and libprotobuf-dev."""

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

    # In a folder of its own: a target may not have the name of its own source.
    ctx.symlink("/usr/bin/protoc", "bin/protoc")
    ctx.symlink(Label("//third_party/protobuf:protobuf.BUILD"), "BUILD.bazel")

protobuf_repository = repository_rule(
    implementation = _protobuf_repository_impl,
    configure = True,
    local = True,
)

"""@nccl: headers and library of PyPI's NCCL wheel, the one libtorch's CUDA build is made for."""

load("//third_party/libtorch:releases.bzl", "RELEASE_ENVIRON", "chosen_release", "pinned")
load("//third_party/pypi:pypi.bzl", "pypi_unpack")

def _nccl_repository_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.symlink(Label("//third_party/nccl:nccl.BUILD"), "BUILD.bazel")
    _, pins = chosen_release(ctx)
    pypi_unpack(
        ctx,
        requirements = pinned(pins, ["nvidia-nccl-cu13"]),
        folders = {
            "nvidia/nccl/include/": "include/",
            "nvidia/nccl/lib/lib": "lib/lib",
        },
    )

nccl_repository = repository_rule(
    implementation = _nccl_repository_impl,
    environ = RELEASE_ENVIRON,
)

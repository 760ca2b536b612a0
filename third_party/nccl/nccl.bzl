"""@nccl: headers and library of PyPI's NCCL wheel, the one libtorch's CUDA build is made for."""

load("//third_party/pypi:pypi.bzl", "pypi_unpack")

NCCL_VERSION = "2.29.7"

def _nccl_repository_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.symlink(Label("//third_party/nccl:nccl.BUILD"), "BUILD.bazel")
    pypi_unpack(
        ctx,
        requirements = ["nvidia-nccl-cu13==" + NCCL_VERSION],
        folders = {
            "nvidia/nccl/include/": "include/",
            "nvidia/nccl/lib/lib": "lib/lib",
        },
    )

nccl_repository = repository_rule(implementation = _nccl_repository_impl)

"""@libtorch: the C++ part of the PyPI wheel of PyTorch.

`@libtorch//:torch` is the CPU build, or under --config=cuda the CUDA build; the
other one is never fetched. TRAINYARD_LIBTORCH=/path takes an unpacked libtorch
(or an installed `torch` package folder) in place of the wheel.
"""

load("//third_party/debian:debian.bzl", "files_repository")
load("//third_party/pypi:pypi.bzl", "pypi_unpack")

# The one place where the version stands. Wheels are chosen for this Python, whatever
# Python the machine has: nothing of Python is used.
TORCH_VERSION = "2.13.0"

# Not include/google: the wheel's protobuf 3.13 would shadow the real one.
_INCLUDE_ROOTS = ["ATen", "c10", "caffe2", "torch"]

# ATen's per-kernel headers, which only ATen's own sources include: leaving them out
# takes 2,800 of 9,400 files off every compile action.
_UNUSED_HEADERS = "*_cpu_dispatch.h *_cuda_dispatch.h *_meta_dispatch.h *_composite*_dispatch.h"

_CUDA_PACKAGES = [
    # cuda-toolkit 13.0.3's own pins, headers only.
    "nvidia-cuda-runtime==13.0.*",
    "nvidia-cuda-crt==13.0.*",
    "nvidia-cuda-cccl==13.0.*",
    "nvidia-cublas==13.0.*",
    "nvidia-cusparse==12.6.*",
    "nvidia-cusolver==12.0.*",
    "nvidia-nvtx==13.0.*",
]

def _link_libtorch(ctx, root):
    """Links the headers and libraries of an unpacked libtorch; no copy, no unused header."""
    probe = root + "/include/ATen/core/Tensor.h"
    if not ctx.path(probe).exists:
        fail("{}: {} is not there: not an unpacked libtorch".format(ctx.name, probe))
    for folder in _INCLUDE_ROOTS:
        ctx.symlink(root + "/include/" + folder, "include/" + folder)
    for path in ctx.path(root + "/lib").readdir():
        ctx.symlink(path, "lib/" + path.basename)

def _libtorch_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")
    own = ctx.os.environ.get("TRAINYARD_LIBTORCH")
    if own:
        _link_libtorch(ctx, own)
        return

    # Two equals signs also match a local version such as 2.13.0+cpu, three do not.
    operator = "===" if ctx.attr.cuda else "=="
    pypi_unpack(
        ctx,
        requirements = ["torch" + operator + TORCH_VERSION],
        folders = ["torch/include/" + root + "/*" for root in _INCLUDE_ROOTS] + ["torch/lib/lib*"],
    )
    ctx.execute(["sh", "-c", "cd torch/include/ATen/ops && rm -f " + _UNUSED_HEADERS])
    ctx.execute(["sh", "-c", "mv torch/include torch/lib . && rmdir torch"])
    if ctx.attr.cuda:
        pypi_unpack(ctx, requirements = _CUDA_PACKAGES, folders = ["nvidia/cu13/include/*"])
        ctx.execute(["sh", "-c", "mv nvidia/cu13/include cuda && rm -r nvidia"])

libtorch = repository_rule(
    implementation = _libtorch_impl,
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "cuda": attr.bool(default = False),
    },
    environ = ["TRAINYARD_LIBTORCH"],
)

def libtorch_repositories():
    """Declares @libtorch and the two builds behind it, unless the workspace has its own @libtorch."""
    if native.existing_rule("libtorch"):
        return
    libtorch(
        name = "libtorch_cpu",
        build_file = Label("//third_party/libtorch:libtorch_cpu.BUILD"),
    )
    libtorch(
        name = "libtorch_cuda",
        build_file = Label("//third_party/libtorch:libtorch_cuda.BUILD"),
        cuda = True,
    )
    files_repository(
        name = "libtorch",
        files = {Label("//third_party/libtorch:libtorch.BUILD"): "BUILD.bazel"},
    )

"""@libtorch: the C++ part of the PyPI wheel of PyTorch.

`@libtorch//:torch` is the CPU build, or under --config=cuda the CUDA build; the
other one is never fetched. TRAINYARD_LIBTORCH=/path takes an unpacked libtorch
(or an installed `torch` package folder) in place of the wheel.
"""

load("//third_party/debian:debian.bzl", "files_repository")
load("//third_party/pypi:pypi.bzl", "pypi_unpack")

# The one place where the version stands.
TORCH_VERSION = "2.13.0"

# Not include/google: the wheel's protobuf 3.13 would shadow the real one.
_INCLUDE_ROOTS = ["ATen", "c10", "caffe2", "torch"]

# The pins of cuda-toolkit 13.0.3, which this torch asks for.
_CUDA_HEADERS = [
    "nvidia-cublas==13.1.1.3",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cusolver==12.0.4.66",
    "nvidia-cusparse==12.6.3.3",
    "nvidia-nvtx==13.0.85",
]

# What libtorch_cuda.so loads, and what these load in turn.
_CUDA_LIBRARIES = [
    "nvidia-cublas==13.1.1.3",
    "nvidia-cuda-cupti==13.0.85",
    "nvidia-cuda-nvrtc==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cudnn-cu13==9.20.0.48",
    "nvidia-cufft==12.0.0.61",
    "nvidia-cufile==1.15.1.6",
    "nvidia-curand==10.4.0.35",
    "nvidia-cusolver==12.0.4.66",
    "nvidia-cusparse==12.6.3.3",
    "nvidia-cusparselt-cu13==0.8.1",
    "nvidia-nvjitlink==13.5.37",
    "nvidia-nvshmem-cu13==3.4.5",
]
_CUDA_STARTUP_LIBRARIES = [
    "nvidia-cuda-cupti==13.0.85",
    "nvidia-cuda-runtime==13.0.96",
]

def _link_libtorch(ctx, root):
    """Links the headers and libraries of an unpacked libtorch; no copy."""
    probe = root + "/include/ATen/core/Tensor.h"
    if not root.startswith("/") or not ctx.path(probe).exists:
        fail("{}: TRAINYARD_LIBTORCH is {}, and {} is not there".format(ctx.name, root, probe))
    for folder in _INCLUDE_ROOTS:
        ctx.symlink(root + "/include/" + folder, "include/" + folder)
    for path in ctx.path(root + "/lib").readdir():
        ctx.symlink(path, "lib/" + path.basename)

def _unpack_libtorch(ctx):
    # Two equals signs also match a local version such as 2.13.0+cpu, three do not.
    operator = "===" if ctx.attr.cuda else "=="
    folders = {"torch/include/{}/".format(root): "include/{}/".format(root) for root in _INCLUDE_ROOTS}
    folders["torch/lib/lib"] = "lib/lib"
    pypi_unpack(ctx, requirements = ["torch" + operator + TORCH_VERSION], folders = folders)
    if ctx.path("lib/libtorch_cuda.so").exists and not ctx.attr.cuda:
        # Where pip knows only the CUDA build, its CPU part serves as well, with the two
        # CUDA libraries that it loads at start-up; they do nothing without a GPU.
        pypi_unpack(
            ctx,
            requirements = _CUDA_STARTUP_LIBRARIES,
            folders = {"nvidia/cu13/lib/libcud": "lib/libcud", "nvidia/cu13/lib/libcupti": "lib/libcupti"},
        )

def _write_checksums(ctx):
    """Writes headers.sha256, which stands for all headers in the inputs of a compile."""
    result = ctx.execute([
        "sh",
        "-c",
        "find -L include $(ls -d cuda 2>/dev/null) -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum > headers.sha256",
    ])
    if result.return_code:
        fail("{}: could not write headers.sha256:\n{}".format(ctx.name, result.stderr))

def _libtorch_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")
    own = ctx.os.environ.get("TRAINYARD_LIBTORCH")
    if own:
        _link_libtorch(ctx, own)
    else:
        _unpack_libtorch(ctx)
    if ctx.attr.cuda:
        pypi_unpack(ctx, requirements = _CUDA_HEADERS, folders = {"nvidia/cu13/include/": "cuda/"})
        pypi_unpack(
            ctx,
            requirements = _CUDA_LIBRARIES,
            folders = {
                "nvidia/{}/lib/lib".format(package): "lib/lib"
                for package in ["cu13", "cudnn", "cusparselt", "nvshmem"]
            },
        )
    _write_checksums(ctx)

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
    if not native.existing_rule("libtorch"):
        declare_libtorch()

def declare_libtorch():
    """Declares the three repositories, for WORKSPACE and for the module extension."""
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

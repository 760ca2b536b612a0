"""@libtorch: the C++ part of the PyPI wheel of PyTorch.

`@libtorch//:torch` is the CPU build, or under --config=cuda the CUDA build; the
other one is never fetched. TRAINYARD_LIBTORCH_VERSION chooses the release: see
releases.bzl. TRAINYARD_LIBTORCH=/path takes an unpacked libtorch (or an
installed `torch` package folder) in place of the wheel.
"""

load("//third_party/debian:debian.bzl", "files_repository")
load("//third_party/libtorch:releases.bzl", "RELEASE_ENVIRON", "chosen_release", "pinned")
load("//third_party/pypi:pypi.bzl", "pypi_unpack")

# Not include/google: the wheel's protobuf 3.13 would shadow the real one.
_INCLUDE_ROOTS = ["ATen", "c10", "caffe2", "torch"]

_CUDA_HEADERS = [
    "nvidia-cublas",
    "nvidia-cuda-cccl",
    "nvidia-cuda-crt",
    "nvidia-cuda-runtime",
    "nvidia-cusolver",
    "nvidia-cusparse",
    "nvidia-nvtx",
]

# What libtorch_cuda.so loads, and what these load in turn.
_CUDA_LIBRARIES = [
    "nvidia-cublas",
    "nvidia-cuda-cupti",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-runtime",
    "nvidia-cudnn-cu13",
    "nvidia-cufft",
    "nvidia-cufile",
    "nvidia-curand",
    "nvidia-cusolver",
    "nvidia-cusparse",
    "nvidia-cusparselt-cu13",
    "nvidia-nvjitlink",
    "nvidia-nvshmem-cu13",
]
_CUDA_STARTUP_LIBRARIES = [
    "nvidia-cuda-cupti",
    "nvidia-cuda-runtime",
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

def _unpack_libtorch(ctx, release, pins):
    # Two equals signs also match a local version such as 2.13.0+cpu, three do not.
    operator = "===" if ctx.attr.cuda else "=="
    folders = {"torch/include/{}/".format(root): "include/{}/".format(root) for root in _INCLUDE_ROOTS}
    for library in ["lib"] if ctx.attr.cuda else ["libc10", "libgomp", "libtorch_cpu.so"]:
        folders["torch/lib/" + library] = "lib/" + library
    pypi_unpack(ctx, requirements = ["torch" + operator + release], folders = folders)
    if ctx.path("lib/libc10_cuda.so").exists and not ctx.attr.cuda:
        # Where pip knows only the CUDA build, its CPU part serves as well, with the two
        # CUDA libraries that it loads at start-up; they do nothing without a GPU.
        pypi_unpack(
            ctx,
            requirements = pinned(pins, _CUDA_STARTUP_LIBRARIES),
            folders = {"nvidia/cu13/lib/libcud": "lib/libcud", "nvidia/cu13/lib/libcupti": "lib/libcupti"},
        )

def _write_version(ctx):
    """Writes version.txt, for what has to know which libtorch it was built with."""
    text = ctx.read("include/torch/headeronly/version.h")
    numbers = [
        text.split("#define TORCH_VERSION_{} ".format(part))[1].split("\n")[0].strip()
        for part in ["MAJOR", "MINOR", "PATCH"]
    ]
    ctx.file("version.txt", ".".join(numbers) + "\n")

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
    release, pins = chosen_release(ctx)
    own = ctx.os.environ.get("TRAINYARD_LIBTORCH")
    if own:
        _link_libtorch(ctx, own)
    else:
        _unpack_libtorch(ctx, release, pins)
    if ctx.attr.cuda:
        pypi_unpack(ctx, requirements = pinned(pins, _CUDA_HEADERS), folders = {"nvidia/cu13/include/": "cuda/"})
        pypi_unpack(
            ctx,
            requirements = pinned(pins, _CUDA_LIBRARIES),
            folders = {
                "nvidia/{}/lib/lib".format(package): "lib/lib"
                for package in ["cu13", "cudnn", "cusparselt", "nvshmem"]
            },
        )
    _write_version(ctx)
    _write_checksums(ctx)

libtorch = repository_rule(
    implementation = _libtorch_impl,
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "cuda": attr.bool(default = False),
    },
    environ = ["TRAINYARD_LIBTORCH"] + RELEASE_ENVIRON,
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

"""The releases of libtorch that Trainyard builds with, and what their CUDA builds ask for.

TRAINYARD_LIBTORCH_VERSION chooses one, in the environment or as a line of user.bazelrc:

    build --repo_env=TRAINYARD_LIBTORCH_VERSION=2.15.0
"""

DEFAULT_RELEASE = "2.13.0"

# The pins of cuda-toolkit 13.0.3 and 13.2.2.
_CUDA_13_0 = {
    "nvidia-cublas": "13.1.1.3",
    "nvidia-cuda-cccl": "13.0.85",
    "nvidia-cuda-crt": "13.0.88",
    "nvidia-cuda-cupti": "13.0.85",
    "nvidia-cuda-nvrtc": "13.0.88",
    "nvidia-cuda-runtime": "13.0.96",
    "nvidia-cufft": "12.0.0.61",
    "nvidia-cufile": "1.15.1.6",
    "nvidia-curand": "10.4.0.35",
    "nvidia-cusolver": "12.0.4.66",
    "nvidia-cusparse": "12.6.3.3",
    "nvidia-nvjitlink": "13.5.37",
    "nvidia-nvtx": "13.0.85",
}
_CUDA_13_2 = {
    "nvidia-cublas": "13.4.1.3",
    "nvidia-cuda-cccl": "13.2.86",
    "nvidia-cuda-crt": "13.2.86",
    "nvidia-cuda-cupti": "13.2.86",
    "nvidia-cuda-nvrtc": "13.2.86",
    "nvidia-cuda-runtime": "13.2.86",
    "nvidia-cufft": "12.2.0.57",
    "nvidia-cufile": "1.17.1.22",
    "nvidia-curand": "10.4.2.66",
    "nvidia-cusolver": "12.2.0.11",
    "nvidia-cusparse": "12.7.10.12",
    "nvidia-nvjitlink": "13.5.37",
    "nvidia-nvtx": "13.2.86",
}

def _release(cuda, cudnn, nccl, nvshmem):
    pins = dict(cuda)
    pins["nvidia-cudnn-cu13"] = cudnn
    pins["nvidia-cusparselt-cu13"] = "0.8.1"
    pins["nvidia-nccl-cu13"] = nccl
    pins["nvidia-nvshmem-cu13"] = nvshmem
    return pins

_RELEASES = {
    "2.13.0": _release(_CUDA_13_0, "9.20.0.48", "2.29.7", "3.4.5"),
    "2.14.1": _release(_CUDA_13_0, "9.24.0.43", "2.30.7", "3.4.5"),
    "2.15.0": _release(_CUDA_13_2, "9.26.0.51", "2.30.7", "3.7.2"),
}

# For the attribute `environ` of repository rules that call chosen_release.
RELEASE_ENVIRON = ["TRAINYARD_LIBTORCH_VERSION"]

def chosen_release(ctx):
    """The chosen release, and the packages that its CUDA build asks for.

    Args:
      ctx: the repository rule's context.

    Returns:
      the release, and a dict from the name of a package on PyPI to its version.
    """
    wanted = ctx.os.environ.get("TRAINYARD_LIBTORCH_VERSION") or DEFAULT_RELEASE
    for release, pins in _RELEASES.items():
        if release == wanted or release.startswith(wanted + "."):
            return release, pins
    fail("{}: TRAINYARD_LIBTORCH_VERSION is {}; Trainyard builds with {}. TRAINYARD_LIBTORCH=/path takes any unpacked libtorch.".format(
        ctx.name,
        wanted,
        ", ".join(_RELEASES.keys()),
    ))

def pinned(pins, packages):
    """pip's requirements for some packages of a release.

    Args:
      pins: as chosen_release returns them.
      packages: names of packages.

    Returns:
      a list of strings such as "nvidia-nvtx==13.0.85".
    """
    return ["{}=={}".format(package, pins[package]) for package in packages]

"""@kubernetes_api//:models: the classes that Kubeflow's clients have of Kubernetes objects, generated from
the schemas of the API, and PyYAML. They are read by a test, not run."""

load("//third_party/pypi:pypi.bzl", "pypi_unpack")

_REQUIREMENTS = [
    # JobSet v1alpha2 and Kubernetes' own.
    "kubeflow-trainer-api==2.3.0",
    # PyTorchJob v1.
    "kubeflow-training==1.9.4",
    "pyyaml==6.0.3",
]

_BUILD = """\
exports_files(["root.txt"], visibility = ["//visibility:public"])

filegroup(
    name = "models",
    srcs = ["root.txt"] + glob(["models/*.py", "yaml/*.py"]),
    visibility = ["//visibility:public"],
)
"""

def _kubernetes_api_repository_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    pypi_unpack(
        ctx,
        requirements = _REQUIREMENTS,
        folders = {
            "kubeflow/training/models/": "models/",
            "kubeflow_trainer_api/models/": "models/",
            "yaml/": "yaml/",
        },
    )
    ctx.file("root.txt", "\n".join(_REQUIREMENTS) + "\n")
    ctx.file("BUILD.bazel", _BUILD)

kubernetes_api_repository = repository_rule(implementation = _kubernetes_api_repository_impl)

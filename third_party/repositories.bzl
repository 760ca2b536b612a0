"""All external repositories of Trainyard, under their canonical names, for WORKSPACE.

    load("@trainyard//third_party:repositories.bzl", "trainyard_repositories")
    trainyard_repositories()

A repository that the calling workspace has already declared is left alone. Bazel 7 and newer
read MODULE.bazel instead, which has the same dependencies as modules.
"""

load("//third_party/absl:absl.bzl", "absl_repository")
load("//third_party/buildifier:buildifier.bzl", "buildifier_repository")
load("//third_party/clang:clang.bzl", "clang_repository")
load("//third_party/clang_format:clang_format.bzl", "clang_format_repository")
load("//third_party/cluster_packages:cluster_packages.bzl", "cluster_packages_repository")
load("//third_party/debian:debian.bzl", "debian_library", "debian_starlark", "files_repository")
load("//third_party/gloo:gloo.bzl", "gloo_repository")
load("//third_party/kubernetes_api:kubernetes_api.bzl", "kubernetes_api_repository")
load("//third_party/libtorch:libtorch.bzl", "libtorch_repositories")
load("//third_party/nccl:nccl.bzl", "nccl_repository")
load("//third_party/protobuf:protobuf.bzl", "protobuf_repository")

# Repository name -> (a header that proves the package is there, its Debian package).
_DEBIAN_LIBRARIES = {
    "com_github_google_benchmark": ("benchmark", "benchmark/benchmark.h", "libbenchmark-dev"),
    "com_github_google_glog": ("glog", "glog/logging.h", "libgoogle-glog-dev"),
    "com_google_googletest": ("googletest", "gmock/gmock.h", "libgmock-dev"),
    "libjpeg_turbo": ("libjpeg_turbo", "jpeglib.h", "libjpeg62-turbo-dev"),
    "libpng": ("libpng", "png.h", "libpng-dev"),
    "zlib": ("zlib", "zlib.h", "zlib1g-dev"),
}

# Starlark rule sets that Bazel 4.2.3 would otherwise download.
_DEBIAN_STARLARK = {
    "bazel_skylib": ("tools/skylib", "bazel-skylib"),
    "platforms": ("tools/platforms", "bazel-platforms"),
    "rules_java": ("rules/java", "bazel-rules-java"),
    "rules_proto": ("rules/proto", "bazel-rules-proto"),
}

def _missing(name):
    return not native.existing_rule(name)

def trainyard_repositories():
    """Declares what the libraries need. Nothing is fetched until a target asks for it."""
    for name, (folder, header, package) in _DEBIAN_LIBRARIES.items():
        if _missing(name):
            debian_library(
                name = name,
                build_file = Label("//third_party/{}/module:BUILD.bazel".format(folder)),
                header = header,
                package = package,
            )
    for name, (folder, package) in _DEBIAN_STARLARK.items():
        # Bazel itself predeclares some of these; replacing them keeps the build offline.
        debian_starlark(name = name, folder = folder, package = package)

    # Written by us: Debian's rules_cc does not load under Bazel 4.2.3, and every
    # test target asks for the coverage tools, which Debian does not have.
    files_repository(
        name = "rules_cc",
        files = {
            Label("//third_party/rules_cc:cc.BUILD"): "cc/BUILD.bazel",
            Label("//third_party/rules_cc:cc_common.bzl"): "cc/common/cc_common.bzl",
            Label("//third_party/rules_cc:cc_info.bzl"): "cc/common/cc_info.bzl",
            Label("//third_party/rules_cc:common.BUILD"): "cc/common/BUILD.bazel",
            Label("//third_party/rules_cc:defs.bzl"): "cc/defs.bzl",
            Label("//third_party/rules_cc:native.bzl"): "cc/common/native.bzl",
        },
    )
    files_repository(
        name = "rules_shell",
        files = {
            Label("//third_party/rules_shell/module/shell:BUILD.bazel"): "shell/BUILD.bazel",
            Label("//third_party/rules_shell/module/shell:sh_binary.bzl"): "shell/sh_binary.bzl",
            Label("//third_party/rules_shell/module/shell:sh_library.bzl"): "shell/sh_library.bzl",
            Label("//third_party/rules_shell/module/shell:sh_test.bzl"): "shell/sh_test.bzl",
        },
    )
    files_repository(
        name = "remote_coverage_tools",
        files = {
            Label("//third_party/remote_coverage_tools:remote_coverage_tools.BUILD"): "BUILD.bazel",
        },
    )
    if _missing("com_google_absl"):
        absl_repository(name = "com_google_absl")
    if _missing("com_google_protobuf"):
        protobuf_repository(name = "com_google_protobuf")
    if _missing("gloo"):
        gloo_repository()
    libtorch_repositories()
    clang_repository(name = "trainyard_clang")
    if _missing("nccl"):
        nccl_repository(name = "nccl")

def trainyard_dev_repositories():
    """Declares what only Trainyard's own tests need."""
    clang_format_repository(name = "clang_format")
    buildifier_repository(name = "buildifier")
    cluster_packages_repository(name = "cluster_packages")
    kubernetes_api_repository(name = "kubernetes_api")

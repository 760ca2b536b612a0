"""Module extensions: what no registry of Bazel modules has."""

load("//third_party/buildifier:buildifier.bzl", "buildifier_repository")
load("//third_party/clang:clang.bzl", "clang_repository")
load("//third_party/clang_format:clang_format.bzl", "clang_format_repository")
load("//third_party/cluster_packages:cluster_packages.bzl", "cluster_packages_repository")
load("//third_party/gloo:gloo.bzl", "gloo_repository")
load("//third_party/kubernetes_api:kubernetes_api.bzl", "kubernetes_api_repository")
load("//third_party/nccl:nccl.bzl", "nccl_repository")

def _compiler_impl(_ctx):
    clang_repository(name = "trainyard_clang")

# @trainyard_clang.
compiler = module_extension(implementation = _compiler_impl)

def _communication_impl(_ctx):
    gloo_repository()
    nccl_repository(name = "nccl")

# @gloo and @nccl.
communication = module_extension(implementation = _communication_impl)

def _lint_tools_impl(_ctx):
    buildifier_repository(name = "buildifier")
    clang_format_repository(name = "clang_format")
    cluster_packages_repository(name = "cluster_packages")
    kubernetes_api_repository(name = "kubernetes_api")

# What only Trainyard's own tests need.
lint_tools = module_extension(implementation = _lint_tools_impl)

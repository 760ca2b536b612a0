"""libtorch as a module extension, which other modules can use alone:

    bazel_dep(name = "trainyard")
    libtorch = use_extension("@trainyard//third_party/libtorch:extensions.bzl", "libtorch")
    use_repo(libtorch, "libtorch")

Targets then list `@libtorch//:torch`.
"""

load("//third_party/libtorch:libtorch.bzl", "declare_libtorch")

def _libtorch_impl(_ctx):
    declare_libtorch()

libtorch = module_extension(implementation = _libtorch_impl)

"""@clang_format//:clang_format from the PyPI wheel of the same name."""

load("//third_party/pypi:pypi.bzl", "pypi_unpack")

CLANG_FORMAT_VERSION = "23.1.3"

def _clang_format_repository_impl(ctx):
    ctx.file("WORKSPACE.bazel", "workspace(name = \"{}\")\n".format(ctx.name))
    pypi_unpack(
        ctx,
        requirements = ["clang-format==" + CLANG_FORMAT_VERSION],
        folders = {"clang_format/data/bin/clang-format": "clang_format"},
    )
    ctx.file("BUILD.bazel", "exports_files([\"clang_format\"])\n")

clang_format_repository = repository_rule(implementation = _clang_format_repository_impl)

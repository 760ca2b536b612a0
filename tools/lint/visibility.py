"""Fails on a package that is public by default, and on a public target that nobody is told about.

A package of ours shows its targets to this workspace only; a target for users outside says
`visibility = ["//visibility:public"]`. A user must be able to find out how to use it: a
document names its label or its header, the README of its folder does so by a shorter name,
or its header opens with an example. Public libraries are in the package for builds without Bazel.
"""

import ast
import pathlib
import re

import build_graph
import examples

_PUBLIC = "//visibility:public"
_DEFAULT = "//:__subpackages__"
# Used by macros in other workspaces, not by users.
_FOR_MACROS = {"//tools/launch/testing:test_rank_main"}
# Its deps are the libraries of the package.
_PACKAGE = "//tools/package:trainyard"
# Dependencies, and a workspace of its own.
_NOT_OURS = ("third_party/", "tools/examples/outside/")


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _is_public(value: ast.expr | None) -> bool:
    return value is not None and _PUBLIC in build_graph.strings(value, {})


def _is_explained(root: pathlib.Path, package: str, name: str, documents: str) -> bool:
    label = rf"//{package}(?::{name})?" if package.rpartition("/")[2] == name else f"//{package}:{name}"
    if re.search(rf"{label}(?![\w:/])", documents) or f"`{package}/{name}.h`" in documents:
        return True
    page = root / package / "README.md"
    if page.exists() and re.search(rf"`[\w/:]*\b{name}(?:\.h)?`", page.read_text()):
        return True
    header = root / package / f"{name}.h"
    return header.exists() and bool(examples.header_examples(header.read_text()))


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    documents = "".join((root / name).read_text() for name in names if name.endswith(".md"))
    package_target = build_graph.read_targets(root, names).get(_PACKAGE)
    errors = []
    for name in names:
        if not name.endswith("/BUILD.bazel") or name.startswith(_NOT_OURS):
            continue
        package = name.rpartition("/")[0]
        text = (root / name).read_text()
        for call in ast.walk(ast.parse(text, filename=name)):
            if not isinstance(call, ast.Call):
                continue
            if _is_public(_keyword(call, "default_visibility")):
                errors.append(f'{name}:{call.lineno}: the default must be ["{_DEFAULT}"]; a target for users says visibility = ["{_PUBLIC}"]')
            target = _keyword(call, "name")
            # A name from a list comprehension stands for many targets.
            if not isinstance(target, ast.Constant) or not _is_public(_keyword(call, "visibility")):
                continue
            if f"//{package}:{target.value}" not in _FOR_MACROS and not _is_explained(root, package, target.value, documents):
                errors.append(f"{name}:{call.lineno}: {target.value} is public, but no document names //{package}:{target.value} and its header has no example")
            is_library = ast.unparse(call.func) == "trainyard_cc_library"
            test_only = package.endswith("/testing") or "default_testonly" in text or _keyword(call, "testonly") is not None
            if package_target and is_library and not test_only and f"//{package}:{target.value}" not in package_target.deps:
                errors.append(f"{name}:{call.lineno}: {target.value} is public, but not in deps of {_PACKAGE}")
    return errors

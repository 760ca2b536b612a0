"""Reads the targets of BUILD.bazel files, which are Python to Python's own parser.

Sees what stands in BUILD files: every call with a name, and all labels under its
attributes, on each branch of a select() and behind constants of the same file. What a
macro adds by itself is not seen.
"""

import ast
import dataclasses
import pathlib

# Attributes whose labels are not dependencies.
_NOT_DEPENDENCIES = {"args", "compatible_with", "env", "expression", "features", "licenses", "name"}
_NOT_DEPENDENCIES |= {"restricted_to", "tags", "target_compatible_with", "visibility"}
# Attributes in which a bare word is a label too, not only a file.
_LABELS_ONLY = {"actual", "deps", "exports", "runtime_deps", "tests"}


@dataclasses.dataclass
class Target:
    label: str
    is_test: bool
    deps: list[str]


def read_targets(root: pathlib.Path, names: list[str]) -> dict[str, Target]:
    """All targets of the BUILD.bazel files among `names`, by label."""
    targets = {}
    for name in names:
        if name == "BUILD.bazel" or name.endswith("/BUILD.bazel"):
            package = name.rpartition("/")[0]
            for target in _targets_of_file((root / name).read_text(), name, package):
                targets[target.label] = target
    return targets


def _targets_of_file(text: str, name: str, package: str) -> list[Target]:
    tree = ast.parse(text, filename=name)
    constants = constants_of(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [_target(call, package, constants) for call in calls if _attribute(call, "name")]


def constants_of(tree: ast.Module) -> dict[str, ast.expr]:
    """The constants of a BUILD file, by name."""
    return {
        variable.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for variable in statement.targets
        if isinstance(variable, ast.Name)
    }


def _attribute(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _target(call: ast.Call, package: str, constants: dict[str, ast.expr]) -> Target:
    name_node = _attribute(call, "name")
    # A name computed in a list comprehension stands for itself, as written.
    name = name_node.value if isinstance(name_node, ast.Constant) else ast.unparse(name_node)
    testonly = _attribute(call, "testonly")
    rule = ast.unparse(call.func)
    deps = []
    for keyword in call.keywords:
        if keyword.arg and keyword.arg not in _NOT_DEPENDENCIES:
            for text in strings(keyword.value, constants):
                if text.startswith(("//", ":", "@")) or keyword.arg in _LABELS_ONLY:
                    deps.append(absolute_label(text, package))
    return Target(
        label=f"//{package}:{name}",
        is_test=rule.endswith(("_test", "_benchmark")) or (testonly is not None and ast.unparse(testonly) in ("True", "1")),
        deps=deps,
    )


def strings(node: ast.expr, constants: dict[str, ast.expr], seen: tuple[str, ...] = ()) -> list[str]:
    """Every string in an expression, and in the constants that it names."""
    found = []
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            found.append(child.value)
        elif isinstance(child, ast.Name) and child.id in constants and child.id not in seen:
            found += strings(constants[child.id], constants, seen + (child.id,))
    return found


def absolute_label(text: str, package: str) -> str:
    """`:x` of package p is //p:x, //p is //p:p, and our own repository has no name."""
    text = text.removeprefix("@trainyard")
    if not text.startswith(("//", "@")):
        return f"//{package}:{text.removeprefix(':')}"
    repository, _, path = text.partition("//")
    folder, colon, name = path.partition(":")
    if not colon:
        name = folder.rpartition("/")[2] or repository.removeprefix("@")
    return f"{repository}//{folder}:{name}"

"""Fails when dependencies between folders point the wrong way.

    tools -> trainer:trainer -> interfaces of the families -> trainer's vocabulary
"""

import collections
import fnmatch
import pathlib

import build_graph
import layering_rules as rules


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    targets = build_graph.read_targets(root, names)
    return _reaching_trainer(targets) + _foreign_parts(targets) + _reaching_libtorch(targets)


def _folder(label: str) -> str:
    """The top folder of a label of ours: callbacks for //callbacks/x:y."""
    return label.removeprefix("//").partition(":")[0].partition("/")[0] if label.startswith("//") else ""


def _path(targets: dict[str, build_graph.Target], start: str, is_goal) -> list[str]:
    """The shortest chain of labels from `start` to one that is a goal; empty if none."""
    chains = collections.deque([[start]])
    seen = {start}
    while chains:
        chain = chains.popleft()
        for dep in targets[chain[-1]].deps if chain[-1] in targets else []:
            if is_goal(dep):
                return chain + [dep]
            if dep not in seen:
                seen.add(dep)
                chains.append(chain + [dep])
    return []


def _reaching_trainer(targets: dict[str, build_graph.Target]) -> list[str]:
    errors = []
    for label, target in sorted(targets.items()):
        # A test may run what it tests inside a real run.
        if _folder(label) in rules.FAMILIES and not target.is_test:
            if chain := _path(targets, label, lambda dep: dep == rules.TRAINER):
                errors.append(f"{label} must not reach {rules.TRAINER}: {' -> '.join(chain)}")
    return errors


def _foreign_parts(targets: dict[str, build_graph.Target]) -> list[str]:
    errors = []
    for label, target in sorted(targets.items()):
        folder = _folder(label)
        # The loop knows the families by their interfaces too; only programs choose parts.
        if target.is_test or folder not in rules.FAMILIES + ["trainer"]:
            continue
        for dep in target.deps:
            foreign = _folder(dep) in rules.FAMILIES and _folder(dep) != folder
            if foreign and dep not in rules.INTERFACES and (label, dep) not in rules.WRAPPERS:
                errors.append(
                    f"{label} must not depend on {dep}, a concrete part of another folder: "
                    "take the interface, or list the pair under WRAPPERS in tools/lint/layering_rules.py"
                )
    return errors


def _reaching_libtorch(targets: dict[str, build_graph.Target]) -> list[str]:
    errors = []
    libraries = sorted(label for label, target in targets.items() if not target.is_test)
    for pattern in rules.TORCH_FREE:
        matching = fnmatch.filter(libraries, pattern)
        package = pattern.partition(":")[0] + ":"
        if not matching and any(label.startswith(package) for label in libraries):
            errors.append(f"TORCH_FREE in tools/lint/layering_rules.py lists {pattern}, and no library is called that")
        for label in matching:
            if chain := _path(targets, label, lambda dep: dep.startswith("@libtorch")):
                errors.append(f"{label} must build without libtorch: {' -> '.join(chain)}")
    return errors

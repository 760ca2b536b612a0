#!/usr/bin/env -S python3 -B
"""Fails if a mutant does not fit the source tree: its snippet, its tests or their cases.

    lists_test.py WORKSPACE_FILE
"""

import pathlib
import re
import sys

import mutant_list

_DEFINITION = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")
_RANKS = re.compile(r"_(?:cpu|standin|cuda)_\d+_test$")


def _is_listed(target: str, root: pathlib.Path) -> bool:
    """Whether it may be one of several tests that a list in the BUILD file makes, by name and source."""
    package, _, name = target[2:].partition(":")
    build = root / package / "BUILD.bazel"
    if not build.is_file() or not (root / package / f"{name}.cc").is_file():
        return False
    text = build.read_text()
    return f'"{name}"' in text or f'"{name.removesuffix("_test")}"' in text


def check(root: pathlib.Path) -> list[str]:
    sys.path.insert(0, str(root / "tools/lint"))
    import build_graph
    import source_tree

    names = source_tree.list_files(root)
    targets = build_graph.read_targets(root, names)
    cases = set()
    for name in names:
        if name.endswith(".cc"):
            cases.update(".".join(found) for found in _DEFINITION.findall((root / name).read_text()))
    errors = []
    for mutant in mutant_list.read_all(root / "tools/mutants/lists"):
        where = f"{mutant.area}.toml: {mutant.name}"
        if mutant.file not in names:
            errors.append(f"{where}: there is no file {mutant.file}")
            continue
        try:
            mutant.mutated((root / mutant.file).read_text())
        except mutant_list.ListError as error:
            errors.append(str(error))
        for test in mutant.fails:
            # One of the tests that a distributed_test makes is known by the suite of them all.
            if test.target not in targets and _RANKS.sub("_test", test.target) not in targets and not _is_listed(test.target, root):
                errors.append(f"{where}: there is no test {test.target}")
            if test.case and test.case not in cases:
                errors.append(f"{where}: there is no test case {test.case}")
    return errors


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve().parent
    try:
        errors = check(root)
    except mutant_list.ListError as error:
        errors = [str(error)]
    for error in errors:
        print(f"tools/mutants/lists: {error}")
    if errors:
        print("The lists follow the code: repair the entry (README.md), or delete it if what it changed is gone.")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

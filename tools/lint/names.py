"""Fails on a name in the last column of trainer/NAMES.md that no header declares, and on a
test in that of trainer/CONFORMANCE.md that no source has."""

import pathlib
import re

import declarations

_PAGE = "trainer/NAMES.md"
_NAME = re.compile(r"`(\w+)`")
_TESTS_PAGE = "trainer/CONFORMANCE.md"
_TEST = re.compile(r"`(\w+Test)\.(\w+)`")
_DEFINITION = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")


def _check_tests(root: pathlib.Path, names: list[str]) -> list[str]:
    if _TESTS_PAGE not in names:
        return []
    defined = set()
    for name in names:
        if name.endswith(".cc"):
            defined.update(_DEFINITION.findall((root / name).read_text()))
    return [
        f"{_TESTS_PAGE}:{number}: there is no test {'.'.join(test)}"
        for number, line in enumerate((root / _TESTS_PAGE).read_text().splitlines(), start=1)
        for test in _TEST.findall(line)
        if test not in defined
    ]


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    if _PAGE not in names:
        return _check_tests(root, names)
    declared = set()
    for name in names:
        if name.endswith(".h"):
            declared.update(found.name for found in declarations.read(root / name))
    # Metrics are made of a set's name and the loss: no header spells them.
    declared.update(["train_loss", "eval_loss"])
    errors = _check_tests(root, names)
    for number, line in enumerate((root / _PAGE).read_text().splitlines(), start=1):
        cells = line.strip().strip("|").split("|")
        if not line.startswith("|") or len(cells) < 2:
            continue
        for symbol in _NAME.findall(cells[-1]):
            if symbol not in declared:
                errors.append(f"{_PAGE}:{number}: no header declares {symbol}")
    return errors

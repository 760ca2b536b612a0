"""Fails on a name in the last column of trainer/NAMES.md that no header declares, and on what
conformance.py finds."""

import pathlib
import re

import conformance
import declarations

_PAGE = "trainer/NAMES.md"
_NAME = re.compile(r"`(\w+)`")


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    if _PAGE not in names:
        return conformance.check(root, names)
    declared = set()
    for name in names:
        if name.endswith(".h"):
            declared.update(found.name for found in declarations.read(root / name))
    # Metrics are made of a set's name and the loss: no header spells them.
    declared.update(["train_loss", "eval_loss"])
    errors = conformance.check(root, names)
    for number, line in enumerate((root / _PAGE).read_text().splitlines(), start=1):
        cells = line.strip().strip("|").split("|")
        if not line.startswith("|") or len(cells) < 2:
            continue
        for symbol in _NAME.findall(cells[-1]):
            if symbol not in declared:
                errors.append(f"{_PAGE}:{number}: no header declares {symbol}")
    return errors

"""Fails if trainer/CONFORMANCE.md leaves out a behaviour, names no test that holds it, names one
that no source has, or counts wrongly."""

import collections
import pathlib
import re

import paths

PAGE = "trainer/CONFORMANCE.md"
# Behaviours of each reference, and our further decisions, which have no fixed number.
SECTIONS = {"2.1": 38, "2.2": 25, "2.3": 43, "2.4": 109, "2.5": 33, "D": None}
STATUSES = ("held", "decided", "missing")
# What a row may say instead of naming a test.
_NO_TEST = ("by type", "nothing to hold")
_ROW = re.compile(r"\| (2\.\d|D)-(\d+) \|")
_COUNT = re.compile(r"\| (2\.\d|D|all)\b[^|]*\|(.*)\|")
_TEST = re.compile(r"`(\w+Test)\.(\w+)`")
_TARGET = re.compile(r"`(//[\w/]+:\w+)`")
_DEFINITION = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    if PAGE not in names:
        return []
    defined = set()
    for name in names:
        if name.endswith(".cc"):
            defined.update(_DEFINITION.findall((root / name).read_text()))
    known = set(names)
    errors, counts, written = [], collections.defaultdict(collections.Counter), {}
    for number, line in enumerate((root / PAGE).read_text().splitlines(), start=1):
        where = f"{PAGE}:{number}: "
        errors += [f"{where}there is no test {'.'.join(test)}" for test in _TEST.findall(line) if test not in defined]
        errors += [f"{where}there is no target {target}" for target in _TARGET.findall(line) if not paths.label_exists(root, known, *target.removeprefix("//").split(":"))]
        if row := _ROW.match(line):
            errors += [where + problem for problem in _check_row(row, line, counts[row[1]])]
        elif count := _COUNT.fullmatch(line):
            written[count[1]] = (number, [int(cell) for cell in re.findall(r"\d+", count[2])])
    return errors + _check_counts(counts, written)


def _check_row(row: re.Match, line: str, counts: collections.Counter) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) != 4 or cells[2] not in STATUSES:
        return [f"{row[1]}-{row[2]} needs 4 cells, the third {', '.join(STATUSES)}"]
    problems = []
    if int(row[2]) != counts.total() + 1:
        problems.append(f"{row[1]}-{row[2]} is not the next one: {row[1]}-{counts.total() + 1} is")
    counts[cells[2]] += 1
    if cells[2] != "missing" and not (_TEST.search(cells[3]) or _TARGET.search(cells[3]) or any(words in cells[3] for words in _NO_TEST)):
        problems.append(f"{row[1]}-{row[2]} names no test that holds it; nor does it say: {', '.join(_NO_TEST)}")
    return problems


def _check_counts(counts: dict[str, collections.Counter], written: dict[str, tuple[int, list[int]]]) -> list[str]:
    errors = []
    for section, expected in SECTIONS.items():
        rows = counts[section].total()
        if expected is not None and rows != expected:
            errors.append(f"{PAGE}: {section} has {rows} rows; the reference has {expected} behaviours")
    everything = sum(counts.values(), collections.Counter())
    for section, counter in [*((section, counts[section]) for section in SECTIONS), ("all", everything)]:
        numbers = [*(counter[status] for status in STATUSES), counter.total()]
        line, there = written.get(section, (1, []))
        if there != numbers:
            errors.append(f"{PAGE}:{line}: the counts of {section} must be {' | '.join(map(str, numbers))}")
    return errors

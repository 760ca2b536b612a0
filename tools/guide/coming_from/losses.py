"""The final losses that the programs of this folder print."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "losses.json"  # of the Python programs, written by compare.py
SETS = ("train_loss", "eval_loss")
# The same updates in the same order: only rounding differs.
TOLERANCE = 1e-6
_LINE = re.compile(r"^final train_loss=(\S+) eval_loss=(\S+)$", re.MULTILINE)


def parse(output: str) -> dict[str, float]:
    """Throws ValueError if a program has not printed its losses."""
    found = _LINE.search(output)
    if found is None:
        raise ValueError("no line with the final losses:\n" + output[-2000:])
    return dict(zip(SETS, map(float, found.groups())))


def difference(theirs: dict[str, float], ours: dict[str, float]) -> float:
    return max(abs(theirs[name] - ours[name]) for name in SETS)


def library_of(program: str) -> str:
    return pathlib.Path(program).name.removeprefix("from_")


def cells(library: str, *losses: dict[str, float]) -> str:
    """The first cells of a line of the table in README.md, or all of them with theirs and ours."""
    values = [f"{one[name]:.6f}" for one in losses for name in SETS]
    return f"| {library} | {' | '.join(values)} |"

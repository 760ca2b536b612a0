"""Fails on a C++ example, in a document or a header, that no source file contains.

Source files are compiled, so an example that is also in one stays correct. White space is
ignored. For examples of headers, comments are ignored too; the statements must be in one
file in this order, and "…" stands for any code.
"""

import pathlib
import re

_EXAMPLE = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*")
_HEADER_LINE = re.compile(r"//(   +\S.*)")
_STATEMENT = re.compile(r".*?(?:[;{}](?=\s*$)|\Z)", re.MULTILINE | re.DOTALL)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def header_examples(text: str) -> list[tuple[int, str]]:
    """Line and text of each block of indented code before a header's guard."""
    blocks, lines = [], []
    for number, line in enumerate(text.partition("#ifndef")[0].splitlines() + [""], start=1):
        if match := _HEADER_LINE.fullmatch(line):
            lines.append(match[1])
        elif lines:
            # A block without a statement is a table or a formula.
            if any(_COMMENT.sub("", line).rstrip().endswith((";", "{")) for line in lines):
                blocks.append((number - len(lines), "\n".join(lines)))
            lines = []
    return blocks


def _statements(example: str) -> list[str]:
    parts = []
    for text in re.split("…|\\.\\.\\.", _COMMENT.sub("", example)):
        parts += [_squeezed(part) for part in _STATEMENT.findall(text)]
    return [part for part in parts if part]


def _stands_in(statements: list[str], source: str) -> bool:
    at = 0
    for statement in statements:
        at = source.find(statement, at)
        if at < 0:
            return False
        at += len(statement)
    return True


def _check_headers(root: pathlib.Path, names: list[str]) -> list[str]:
    sources = [_squeezed(_COMMENT.sub("", (root / name).read_text())) for name in names if name.endswith(".cc")]
    errors = []
    for name in names:
        if not name.endswith(".h"):
            continue
        for line, example in header_examples((root / name).read_text()):
            if not any(_stands_in(_statements(example), source) for source in sources):
                errors.append(f"{name}:{line}: no .cc file has this example; put it into a test or a program")
    return errors


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    sources = [_squeezed((root / name).read_text()) for name in names if name.endswith(".cc")]
    errors = []
    for name in names:
        if not name.endswith(".md"):
            continue
        text = (root / name).read_text()
        for match in _EXAMPLE.finditer(text):
            if not any(_squeezed(match[1]) in source for source in sources):
                line = text.count("\n", 0, match.start()) + 1
                errors.append(f"{name}:{line}: no .cc file has this example; put it into a test or a program, word for word")
    return errors + _check_headers(root, names)

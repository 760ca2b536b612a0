"""Fails on a C++ example in a document that stands in no source file.

A source file is compiled by its target; an example that is also there, but for white
space, cannot rot.
"""

import pathlib
import re

_EXAMPLE = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _squeezed(text: str) -> str:
    return "".join(text.split())


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
    return errors

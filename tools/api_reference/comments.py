#!/usr/bin/env -S python3 -B
"""Prints a header with its comments in the form that doxygen reads.

    comments.py HEADER

The comment at the top becomes the description of the file, and every other comment that of what follows it; a comment
behind a member becomes its description. Indented lines are code.
"""

import pathlib
import re
import sys

_LINE = re.compile(r"^(\s*)//(?!/) ?(.*)$")
_BEHIND = re.compile(r"^(\s*\S.*?[;,{}]) *// (.*)$")


def _plain(text: str) -> str:
    """A line of prose, with the characters that doxygen would take as commands escaped."""
    return re.sub(r"([\\@<>&#%$\"])", r"\\\1", text).replace("`", "'").replace("::", "\\::")


def _block(indent: str, lines: list[str]) -> list[str]:
    """A comment of several lines: prose, and code where lines are indented."""
    out, code = [], False
    for line in lines:
        is_code = line.startswith("  ")
        if is_code and not code:
            out.append(f"{indent}/// @code{{.cpp}}")
        if code and not is_code and line.strip():
            out.append(f"{indent}/// @endcode")
        code = is_code or (code and not line.strip())
        out.append(f"{indent}/// {line if code else _plain(line)}".rstrip())
    if code:
        out.append(f"{indent}/// @endcode")
    return out


def converted(text: str) -> str:
    out, block, indent = [], [], ""
    at_top = True
    for line in text.splitlines() + ["\0"]:
        match = _LINE.match(line)
        if match and not match[2].startswith("NOLINT"):
            indent = match[1]
            block.append(match[2])
            continue
        if block:
            heading = re.match(r"---- (.*)", block[0])
            if heading:
                block[0] = heading[1]
            lines = _block(indent, block)
            out += ["/// @file", *lines] if at_top else ([""] if heading else lines)
            block = []
            at_top = False
        behind = _BEHIND.match(line)
        if behind and "NOLINT" not in behind[2] and not line.lstrip().startswith("#") and "namespace" not in behind[2]:
            line = f"{behind[1]} ///< {_plain(behind[2])}"
        out.append(line)
    return "\n".join(out[:-1]) + "\n"


if __name__ == "__main__":
    print(converted(pathlib.Path(sys.argv[1]).read_text()), end="")

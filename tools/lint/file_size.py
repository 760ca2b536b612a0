"""Fails on files too long to be read in one go.

BUILD files are lists: a target belongs to its folder, however many are there.
"""

import pathlib

LIMIT = 400
_SUFFIXES = (".h", ".cc", ".proto", ".bzl", ".py", ".sh")


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    errors = []
    for name in names:
        content = (root / name).read_bytes()
        # Scripts without a suffix are known by their first line.
        if not name.endswith(_SUFFIXES) and not content.startswith(b"#!"):
            continue
        count = len(content.splitlines())
        if count > LIMIT:
            errors.append(f"{name}: {count} lines, at most {LIMIT} are allowed: split it by reason to change")
    return errors

"""Fails on a Python file that does not compile, also one that no target lists."""

import pathlib


def _is_python(path: pathlib.Path) -> bool:
    if path.suffix:
        return path.suffix == ".py"
    with path.open("rb") as file:
        first = file.readline()
    return first.startswith(b"#!") and b"python" in first


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    errors = []
    for name in names:
        if not _is_python(root / name):
            continue
        try:
            compile((root / name).read_bytes(), name, "exec")
        except SyntaxError as error:
            errors.append(f"{name}:{error.lineno}: {error.msg}")
    return errors

#!/usr/bin/env python3
"""Writes a new project that uses Trainyard: a workspace with a dataset, a task, a program and a test.

    tools/bazel run //tools:new_project -- DIR NAME

DIR is created, and must be empty if it is there. NAME is the name of the program and of its namespace: small letters,
digits and underscores. The project has a WORKSPACE for Bazel 4 to 6 and a MODULE.bazel for newer ones, and builds as it
stands; its README.md has the commands.
"""

import keyword
import os
import pathlib
import re
import sys

SELF = pathlib.Path(__file__).resolve()
TEMPLATE = SELF.parent / "template"
TRAINYARD = SELF.parents[2]
# Words that no namespace of C++ can be called, and names that the template uses.
TAKEN = {"auto", "bool", "case", "catch", "char", "const", "default", "delete", "do", "double", "enum", "export", "float",
         "int", "long", "namespace", "new", "operator", "private", "public", "short", "signed", "sizeof", "static", "struct",
         "switch", "template", "this", "throw", "typedef", "union", "unsigned", "using", "virtual", "void", "volatile", "main",
         "points", "std", "at", "c10", "torch", "trainyard"}  # fmt: skip


def fail(message: str) -> None:
    sys.exit(f"new_project: {message}")


def main(arguments: list[str]) -> None:
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    # Bazel starts programs in another folder than the user's.
    folder = pathlib.Path(os.path.abspath(os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", "."), arguments[0])))
    name = arguments[1]
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in TAKEN or keyword.iskeyword(name):
        fail(f"NAME is {name!r}; want small letters, digits and underscores, not a word of C++")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        fail(f"DIR is {folder}, which is not an empty folder")
    values = {"@NAME@": name, "@NAME_UPPER@": name.upper(), "@TRAINYARD@": str(TRAINYARD)}

    def filled(text: str) -> str:
        return re.sub("|".join(values), lambda match: values[match[0]], text)

    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(TEMPLATE.iterdir()):
        (folder / filled(source.name.removesuffix(".in"))).write_text(filled(source.read_text()))
    print(f"wrote {folder}; now:\n\n    cd {folder}\n    {TRAINYARD}/tools/bazel run //:{name}")


if __name__ == "__main__":
    main(sys.argv[1:])

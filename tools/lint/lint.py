#!/usr/bin/env -S python3 -B
"""One check over the whole source tree, or the repair of its layout and of what targets
list of libtorch.

    lint.py CHECK WORKSPACE_FILE [--clang_format=PROGRAM] [--buildifier=PROGRAM]

The tree is the folder in which WORKSPACE_FILE really lies, so that a test sees every
file, listed by a target or not. One line per error, exit code 1.
"""

import argparse
import pathlib
import sys

import examples
import file_size
import formatting
import layering
import libtorch_deps
import libtorch_headers
import names as names_check
import paths
import python_files
import source_tree
import unique_names
import visibility

_CHECKS = {
    "buildifier": lambda root, names, args: formatting.check_buildifier(root, names, args.buildifier),
    "clang_format": lambda root, names, args: formatting.check_clang_format(root, names, args.clang_format),
    "examples": lambda root, names, args: examples.check(root, names),
    "file_size": lambda root, names, args: file_size.check(root, names),
    "fix": lambda root, names, args: _fix(root, names, args),
    "layering": lambda root, names, args: layering.check(root, names),
    "libtorch_headers": lambda root, names, args: libtorch_headers.check(root, names),
    "names": lambda root, names, args: names_check.check(root, names),
    "paths": lambda root, names, args: paths.check(root, names),
    "python_files": lambda root, names, args: python_files.check(root, names),
    "unique_names": lambda root, names, args: unique_names.check(root, names),
    "visibility": lambda root, names, args: visibility.check(root, names),
}


def _fix(root: pathlib.Path, names: list[str], args: argparse.Namespace) -> list[str]:
    libtorch_deps.fix(root, names)
    return formatting.fix(root, names, args.clang_format, args.buildifier)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=sorted(_CHECKS))
    parser.add_argument("workspace", type=pathlib.Path)
    # Made absolute, because they are run from the root of the tree.
    parser.add_argument("--clang_format", type=lambda path: str(pathlib.Path(path).absolute()))
    parser.add_argument("--buildifier", type=lambda path: str(pathlib.Path(path).absolute()))
    args = parser.parse_args()

    workspace = args.workspace.resolve()
    names = source_tree.list_files(workspace.parent)
    if workspace.name not in names:
        print(f"{args.check}: {workspace} is not in the source tree that it names")
        return 1
    errors = _CHECKS[args.check](workspace.parent, names, args)
    for error in errors:
        print(f"{args.check}: {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

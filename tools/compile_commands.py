#!/usr/bin/env python3
"""Writes compile_commands.json, from which clangd and other editors know how each file is compiled.

    tools/bazel run //tools:compile_commands [-- TARGETS]

The file is written to the workspace in which the command is run. TARGETS are //... by default. Nothing is compiled;
generated headers (protobuf) are found once their targets are built. Run it again when BUILD files change.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

SELF = pathlib.Path(__file__).resolve()


def bazel(workspace: pathlib.Path, *arguments: str) -> str:
    command = [str(SELF.parent / "bazel"), *arguments]
    return subprocess.run(command, cwd=workspace, check=True, stdout=subprocess.PIPE, text=True).stdout


def compiler(program: str, output_base: pathlib.Path) -> str:
    """The compiler that an action starts: what the script of third_party/clang calls, or the program itself."""
    if not program.endswith("/clang.sh"):
        return program
    return re.search(r"/usr/bin/clang-\d+", (output_base / program).read_text())[0]


def editor_arguments(arguments: list[str], output_base: pathlib.Path) -> list[str]:
    """A compile command without its outputs and its precompiled header, which belongs to one version of clang."""
    kept, skip = [compiler(arguments[0], output_base)], False
    for argument in arguments[1:]:
        if skip:
            skip = False
        elif argument in ("-include-pch", "-MF", "-o"):
            skip = True
        elif argument not in ("-MD", "-MMD") and not argument.startswith(("-frandom-seed=", "-Xclang=")):
            kept.append(argument)
    return kept


def commands(graph: dict, workspace: pathlib.Path, execution_root: pathlib.Path, output_base: pathlib.Path) -> list[dict]:
    """The entries of compile_commands.json for the actions of Bazel's aquery, one per source file."""
    found = {}
    for action in graph.get("actions", []):
        arguments = action["arguments"]
        if "-c" not in arguments:
            continue
        source = arguments[arguments.index("-c") + 1]
        if source.startswith(("external/", "bazel-out/")) or not source.endswith(".cc"):
            continue
        found[source] = {
            "directory": str(execution_root),
            "file": str(workspace / source),
            "arguments": editor_arguments(arguments, output_base),
        }
    return [found[source] for source in sorted(found)]


def main(targets: list[str]) -> None:
    workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    query = f'mnemonic("CppCompile", {" + ".join(targets or ["//..."])})'
    quiet = ["--ui_event_filters=-info", "--noshow_progress"]
    graph = json.loads(bazel(workspace, "aquery", "--output=jsonproto", *quiet, query))
    root, output_base = (pathlib.Path(bazel(workspace, "info", *quiet, key).strip()) for key in ("execution_root", "output_base"))
    entries = commands(graph, workspace, root, output_base)
    if not entries:
        sys.exit("compile_commands: no target compiles a file of this workspace")
    path = workspace / "compile_commands.json"
    path.write_text(json.dumps(entries, indent=1) + "\n")
    print(f"wrote {path}: {len(entries)} files")


if __name__ == "__main__":
    main(sys.argv[1:])

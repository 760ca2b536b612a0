#!/usr/bin/env python3
"""Writes compile_commands.json, from which clangd and other editors know how each file is compiled.

    tools/bazel run //tools:compile_commands [-- TARGETS]

The file is written to the workspace in which the command is run. TARGETS are //... by default. Nothing is compiled;
generated headers (protobuf) are found once their targets are built. Run it again when BUILD files change.
"""

import json
import os
import pathlib
import subprocess
import sys

SELF = pathlib.Path(__file__).resolve()


def bazel(workspace: pathlib.Path, *arguments: str) -> str:
    command = [str(SELF.parent / "bazel"), *arguments]
    return subprocess.run(command, cwd=workspace, check=True, stdout=subprocess.PIPE, text=True).stdout


def editor_arguments(arguments: list[str], compiler: str) -> list[str]:
    """A compile command without its outputs and its precompiled header, which belongs to one version of clang."""
    kept, skip = [compiler], False
    for argument in arguments[1:]:
        if skip:
            skip = False
        elif argument in ("-include-pch", "-MF", "-o"):
            skip = True
        elif argument not in ("-MD", "-MMD") and not argument.startswith(("-frandom-seed=", "-Xclang=")):
            kept.append(argument)
    return kept


def commands(graph: dict, workspace: pathlib.Path, execution_root: pathlib.Path, compiler: str) -> list[dict]:
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
            "arguments": [*editor_arguments(arguments, compiler)],
        }
    return [found[source] for source in sorted(found)]


def main(targets: list[str]) -> None:
    workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    query = f'mnemonic("CppCompile", {" + ".join(targets or ["//..."])})'
    graph = json.loads(bazel(workspace, "aquery", "--output=jsonproto", "--ui_event_filters=-info", "--noshow_progress", query))
    root = pathlib.Path(bazel(workspace, "info", "--ui_event_filters=-info", "--noshow_progress", "execution_root").strip())
    entries = commands(graph, workspace, root, "/usr/bin/clang-19")
    if not entries:
        sys.exit("compile_commands: no target compiles a file of this workspace")
    path = workspace / "compile_commands.json"
    path.write_text(json.dumps(entries, indent=1) + "\n")
    print(f"wrote {path}: {len(entries)} files")


if __name__ == "__main__":
    main(sys.argv[1:])

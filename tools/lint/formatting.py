"""Checks and repairs layout with clang-format (C++) and buildifier (Bazel's files)."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess

REPAIR = "repair with: tools/bazel run //tools/lint:fix"

def _cpp_files(names: list[str]) -> list[str]:
    return [name for name in names if name.endswith((".h", ".cc"))]


def _bazel_files(names: list[str]) -> dict[str, list[str]]:
    """Files by the type that buildifier must be told: it does not know all our names."""
    types = {"build": [], "workspace": [], "bzl": []}
    for name in names:
        last = name.rpartition("/")[2]
        if last in ("BUILD", "BUILD.bazel") or last.endswith(".BUILD"):
            types["build"].append(name)
        elif last in ("WORKSPACE", "WORKSPACE.bazel"):
            types["workspace"].append(name)
        elif last.endswith(".bzl"):
            types["bzl"].append(name)
    return {kind: files for kind, files in types.items() if files}


def _run(root: pathlib.Path, command: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


def _run_on_every_core(root: pathlib.Path, command: list[str], files: list[str]) -> list[subprocess.CompletedProcess]:
    """Runs it once per core, each time on some of the files."""
    cores = min(os.cpu_count() or 1, len(files))
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        return list(pool.map(lambda first: _run(root, command + files[first::cores]), range(cores)))


def _clang_format(tool: str, root: pathlib.Path) -> list[str]:
    return [tool, f"--style=file:{root / '.clang-format'}"]


def check_clang_format(root: pathlib.Path, names: list[str], tool: str) -> list[str]:
    files = _cpp_files(names)
    if not files:
        return []
    command = _clang_format(tool, root) + ["--dry-run", "-Werror"]
    failed = [result for result in _run_on_every_core(root, command, files) if result.returncode]
    errors = {f"clang-format ended with {result.returncode}: {result.stderr.strip()}"
              for result in failed if not _unclean(result)}
    unclean = sorted({name for result in failed for name in _unclean(result)})
    return sorted(errors) + [f"{name}: not as clang-format lays it out" for name in unclean] + ([REPAIR] if unclean else [])


def _unclean(result: subprocess.CompletedProcess) -> list[str]:
    return re.findall(r"^(.+?):\d+:\d+: error: code should be clang-formatted", result.stderr, re.M)


def check_buildifier(root: pathlib.Path, names: list[str], tool: str) -> list[str]:
    errors = []
    for kind, files in _bazel_files(names).items():
        result = _run(root, [tool, f"-type={kind}", "-mode=check", "-lint=warn", "-format=json"] + files)
        if not result.stdout:
            errors.append(f"buildifier ended with {result.returncode}: {result.stderr.strip()}")
            continue
        for report in json.loads(result.stdout)["files"]:
            errors += _buildifier_errors(report)
    # Warnings are for a person to think about: nothing repairs them.
    return errors + ([REPAIR] if any(error.endswith("lays it out") for error in errors) else [])


def _buildifier_errors(report: dict) -> list[str]:
    name = report["filename"]
    if not report["valid"]:
        return [f"{name}: buildifier cannot parse it"]
    errors = []
    if not report["formatted"]:
        errors.append(f"{name}: not as buildifier lays it out")
    for warning in report["warnings"]:
        message = warning["message"].partition("\n")[0]
        errors.append(f"{name}:{warning['start']['line']}: {warning['category']}: {message}")
    return errors


def fix(root: pathlib.Path, names: list[str], clang_format: str, buildifier: str) -> list[str]:
    """Rewrites every file in place; returns what the tools could not do."""
    commands = []
    if files := _cpp_files(names):
        commands.append(_clang_format(clang_format, root) + ["-i"] + files)
    for kind, files in _bazel_files(names).items():
        commands.append([buildifier, f"-type={kind}", "-mode=fix"] + files)
    results = [_run(root, command) for command in commands]
    return [result.stderr.strip() for result in results if result.returncode]

#!/usr/bin/env -S python3 -B
"""The suites that run on several devices, as a table of README.md.

    tools/gpu_check/device_suites.py WORKSPACE_FILE [--write]

Compares the table in backends/testing/standin/README.md with the BUILD files and the test
sources, and exits with 1 if it differs; with --write it puts the right one in. A number is
that of test cases: those of the sources, and those of a conformance suite once for each
INSTANTIATE_TEST_SUITE_P, times the numbers of ranks.
"""

import argparse
import ast
import pathlib
import re
import sys

_README = "backends/testing/standin/README.md"
_BEGIN = "<!-- tools/gpu_check/device_suites.py writes this table -->\n"
_DEVICES = ("cpu", "standin", "cuda")
_CASE = re.compile(r"^TEST(?:_F|_P)?\(", re.MULTILINE)
_SUITE_CASE = re.compile(r"^TEST_P\((\w+)", re.MULTILINE)
_INSTANCE = re.compile(r"^INSTANTIATE_TEST_SUITE_P\(\s*\w+,\s*(\w+)", re.MULTILINE)


def _attribute(call: ast.Call, name: str, default: object) -> object:
    for keyword in call.keywords:
        if keyword.arg == name:
            return ast.literal_eval(keyword.value)
    return default


def _conformance_cases(root: pathlib.Path) -> dict[str, int]:
    """The number of cases of each suite that other programs instantiate."""
    cases: dict[str, int] = {}
    for path in root.glob("*/testing/*_conformance.cc"):
        for suite in _SUITE_CASE.findall(path.read_text()):
            cases[suite] = cases.get(suite, 0) + 1
    return cases


def _suites(root: pathlib.Path) -> list[tuple[str, dict[str, int]]]:
    """Each suite that runs on more than the CPU, with its number of cases on each device."""
    conformance = _conformance_cases(root)
    suites = []
    for path in sorted(root.glob("**/BUILD.bazel")):
        package = path.parent.relative_to(root)
        if package.parts and package.parts[0].startswith("bazel-"):
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            if call.func.id not in ("trainyard_cc_test", "distributed_test"):
                continue
            devices = _attribute(call, "devices", ["cpu"])
            if devices == ["cpu"]:
                continue
            text = "".join((path.parent / name).read_text() for name in _attribute(call, "srcs", []))
            cases = len(_CASE.findall(text)) + sum(conformance.get(name, 0) for name in _INSTANCE.findall(text))
            if call.func.id == "distributed_test":
                cases *= len(_attribute(call, "world_sizes", [1, 2, 4]))
            label = f"//{package}:{_attribute(call, 'name', '')}"
            suites.append((label, {device: cases for device in devices}))
    return suites


def table(root: pathlib.Path) -> str:
    lines = ["| suite | CPU | stand-in | CUDA |", "| --- | --- | --- | --- |"]
    suites = _suites(root)
    for label, cases in suites:
        numbers = " | ".join(str(cases.get(device, "")) for device in _DEVICES)
        lines.append(f"| `{label}` | {numbers} |")
    sums = " | ".join(str(sum(cases.get(device, 0) for _, cases in suites)) for device in _DEVICES)
    lines.append(f"| {len(suites)} suites | {sums} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()

    root = args.workspace.resolve().parent
    readme = root / _README
    text = readme.read_text()
    before, begin, rest = text.partition(_BEGIN)
    if not begin:
        print(f"{_README} has no line {_BEGIN}", end="")
        return 1
    after = rest.lstrip("\n")
    after = after[re.match(r"(?:\|.*\n)*", after).end() :]
    wanted = before + begin + "\n" + table(root) + "\n" + after.lstrip("\n")
    if wanted == text:
        return 0
    if args.write:
        readme.write_text(wanted)
        return 0
    print(f"the table of suites in {_README} is out of date: run tools/gpu_check/device_suites.py WORKSPACE --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())

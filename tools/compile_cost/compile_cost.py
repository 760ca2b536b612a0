#!/usr/bin/env -S python3 -B
"""What libtorch's headers cost each of our files.

    tools/bazel run //tools/compile_cost -- [--time] [FILE...]
    tools/bazel run //tools/compile_cost -- --write_table

Without files: all of the source tree, most expensive first, and a summary. With files: also
every libtorch header that each one reaches, and through which of our headers.

The cost is the number of lines that the preprocessor makes of a file, which is the same each
time; with --time also the processor seconds that the compiler takes to parse it without a
precompiled header. README.md says more.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lint"))

import libtorch_includes  # noqa: E402
import source_tree  # noqa: E402

# Gloo's own header is empty without the definition that third_party/gloo makes.
_OPTIONS = ["-std=c++20", "-DUSE_C10D_GLOO", "-w"]
_TABLE_HEAD = """\
# Lines that the preprocessor makes of each libtorch header that a file of ours includes.
# Written by: tools/bazel run //tools/compile_cost -- --write_table
# After a new libtorch or compiler, delete this file first: rows that are here stay.
"""


@dataclasses.dataclass
class Cost:
    name: str
    lines: int = 0
    seconds: float = 0
    # Why there are no figures.
    error: str = ""


class Compiler:
    def __init__(self, root: pathlib.Path, libtorch: pathlib.Path):
        folders = [libtorch, libtorch / "torch/csrc/api/include"]
        # The one that third_party/clang takes.
        compiler = next(filter(shutil.which, (f"clang-{version}" for version in range(19, 99))), "clang")
        self._command = [compiler, *_OPTIONS] + ["-iquote", str(root), "-iquote", str(root / "bazel-bin")]
        for folder in folders:
            self._command += ["-isystem", str(folder)]
        self._root = root

    def _run(self, *arguments: str) -> tuple[int, float]:
        """Lines that the compiler prints, and its processor seconds; throws RuntimeError with its first error."""
        with tempfile.TemporaryFile("w+") as errors:
            command = self._command + list(arguments)
            with subprocess.Popen(command, cwd=self._root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as process:
                # Lines with # only say where the next one comes from.
                lines = sum(not line.startswith(b"#") for line in process.stdout)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            messages = [line.strip() for line in errors if "error:" in line]
        if process.returncode:
            raise RuntimeError((messages or ["the compiler failed"])[0])
        return lines, usage.ru_utime + usage.ru_stime

    def header_lines(self, header: str) -> int:
        # The CPU build has no CUDA: these count as empty, as NCCL's is without its definition.
        if header.startswith(("ATen/cuda/", "c10/cuda/")):
            return 1
        return self._run("-E", "-include", header, "-xc++", "/dev/null")[0]

    def cost(self, name: str, timed: bool) -> Cost:
        cost = Cost(name)
        try:
            cost.lines, _ = self._run("-E", "-xc++", name)
            if timed:
                _, cost.seconds = self._run("-fsyntax-only", "-xc++", name)
        except RuntimeError as e:
            cost.error = str(e)
        return cost


def _all(function, items: list, jobs: int) -> list:
    """The function's results, computed `jobs` at a time, with progress on stderr."""
    results = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(function, items):
            results.append(result)
            if sys.stderr.isatty():
                print(f"\r{len(results)} of {len(items)} measured", end="" if len(results) < len(items) else "\n", file=sys.stderr)
    return results


def write_table(root: pathlib.Path, compiler: Compiler, includes: libtorch_includes.Includes, jobs: int):
    known = libtorch_includes.read_table(root)
    used = sorted(includes.libtorch_headers())
    missing = [header for header in used if header not in known]
    known |= dict(zip(missing, _all(compiler.header_lines, missing, jobs)))
    rows = "".join(f"{header} {known[header]}\n" for header in used)
    (root / libtorch_includes.TABLE).write_text(_TABLE_HEAD + rows)
    print(f"{libtorch_includes.TABLE}: {len(used)} headers, {len(missing)} of them measured now")


def _figures(cost: Cost, timed: bool) -> str:
    return f"{cost.lines:>10,}" + (f" {cost.seconds:>7.1f}" if timed else "")


def _through(chain: list[str]) -> str:
    return "through " + " -> ".join(chain[1:-1]) if len(chain) > 2 else "directly"


def print_costs(costs: list[Cost], includes: libtorch_includes.Includes, table: dict[str, int], timed: bool, detailed: bool):
    print("     lines" + (" seconds" if timed else "") + "  file")
    for cost in sorted(costs, key=lambda cost: (-cost.seconds, -cost.lines, cost.name)):
        chains = includes.chains(cost.name)
        headers = sorted(chains, key=lambda header: (-table.get(header, 0), header))
        print(f"{_figures(cost, timed)}  {cost.name}", end="")
        if not headers:
            print(": no libtorch")
        elif detailed:
            print()
            for header in headers:
                print(f"{table.get(header, 0):>20,}  {header}, {_through(chains[header])}")
        else:
            print(f": {len(headers)} of libtorch, {headers[0]} {_through(chains[headers[0]])}")


def print_summary(costs: list[Cost], includes: libtorch_includes.Includes, table: dict[str, int], timed: bool):
    kinds = {"nn": [], "tensor": [], "plain": []}
    users: dict[str, int] = {}
    for cost in costs:
        chains = includes.chains(cost.name)
        most = max((table.get(header, 0) for header in chains), default=0)
        kinds["nn" if most > libtorch_includes.HEAVY_LINES else "tensor" if chains else "plain"].append(cost)
        for header in chains:
            users[header] = users.get(header, 0) + 1
    print("\n     lines" + (" seconds" if timed else "") + "  files, by the precompiled header that they need")
    for kind, members in kinds.items():
        total = Cost("", sum(cost.lines for cost in members), sum(cost.seconds for cost in members))
        print(f"{_figures(total, timed)}  {len(members)} {kind}")
    print("\n     lines  heavy headers of libtorch, by the number of files that reach them")
    for header, count in sorted(users.items(), key=lambda item: (-item[1], item[0])):
        if table.get(header, 0) > libtorch_includes.HEAVY_LINES:
            print(f"{table[header]:>10,}  {header}: {count}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="our .cc and .h files; without them, all")
    parser.add_argument("--time", action="store_true", help="also measure seconds")
    parser.add_argument("--write_table", action="store_true", help=f"only bring {libtorch_includes.TABLE} up to date")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many files at once")
    parser.add_argument("--workspace", type=pathlib.Path, required=True, help="the WORKSPACE file; the BUILD file says it")
    parser.add_argument("--tensor_header", type=pathlib.Path, required=True, help="libtorch's ATen/core/Tensor.h; the BUILD file says it")
    args = parser.parse_args()

    root = args.workspace.resolve().parent
    compiler = Compiler(root, args.tensor_header.resolve().parents[2])
    includes = libtorch_includes.Includes(root, source_tree.list_files(root))
    if args.write_table:
        write_table(root, compiler, includes, args.jobs)
        return 0
    # `bazel run` starts programs elsewhere, and says where the user is.
    here = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    names = [os.path.relpath((here / file).resolve(), root) for file in args.files] or sorted(includes.direct)
    unknown = [name for name in names if name not in includes.direct]
    if unknown:
        print(f"compile_cost: not a .cc or .h file of {root}: {', '.join(unknown)}", file=sys.stderr)
        return 1
    table = libtorch_includes.read_table(root)
    unmeasured = sorted({header for name in names for header in includes.chains(name) if header not in table})
    table |= dict(zip(unmeasured, _all(compiler.header_lines, unmeasured, args.jobs)))
    costs = _all(lambda name: compiler.cost(name, args.time), names, args.jobs)
    measured = [cost for cost in costs if not cost.error]
    print_costs(measured, includes, table, args.time, detailed=bool(args.files))
    if not args.files:
        print_summary(measured, includes, table, args.time)
    failed = [cost for cost in costs if cost.error]
    for cost in failed:
        print(f"compile_cost: {cost.name} is not measured: {cost.error}", file=sys.stderr)
    if failed:
        print("compile_cost: generated headers are there after: tools/bazel build //...", file=sys.stderr)
    # Of all files some need what this machine may not have, such as NCCL.
    return 1 if failed and args.files else 0


if __name__ == "__main__":
    sys.exit(main())

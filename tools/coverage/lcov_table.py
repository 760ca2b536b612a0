"""Reads the lines that tests executed from llvm-cov's lcov format, and makes a table of them by folder."""

import collections
import dataclasses

# Where Bazel's compiler believes to be.
_PREFIX = "/proc/self/cwd/"


@dataclasses.dataclass
class Lines:
    count: int = 0
    executed: int = 0

    def add(self, lines: dict[int, int]) -> None:
        self.count += len(lines)
        self.executed += sum(1 for times in lines.values() if times > 0)

    def percent(self) -> float:
        """Rounded down: 100.0 means all of them."""
        return 1000 * self.executed // self.count / 10 if self.count else 100.0


def read(text: str) -> dict[str, dict[int, int]]:
    """By file: how often each line that has code was executed. Without generated files."""
    files = collections.defaultdict(dict)
    name = ""
    for line in text.splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            name = rest.removeprefix(_PREFIX)
        elif kind == "DA" and not name.startswith(("/", "bazel-out/", "external/")):
            number, times = map(int, rest.split(",")[:2])
            files[name][number] = files[name].get(number, 0) + times
    return dict(files)


def folder_of(name: str) -> str:
    """The folder of a file, two names deep: that of the table of folders in README.md."""
    return "".join(part + "/" for part in name.split("/")[:-1][:2])


def table(files: dict[str, dict[int, int]]) -> tuple[list[str], Lines]:
    """The rows of the table, and all lines."""
    folders, total = collections.defaultdict(Lines), Lines()
    for name, lines in files.items():
        folders[folder_of(name)].add(lines)
        total.add(lines)
    rows = ["| folder | lines | executed | % |", "| --- | --- | --- | --- |"]
    for name, lines in [*sorted(folders.items()), ("all", total)]:
        shown = f"`{name}`" if name.endswith("/") else name
        rows.append(f"| {shown} | {lines.count:,} | {lines.executed:,} | {lines.percent():.1f} |")
    return rows, total


def not_executed(lines: dict[int, int]) -> str:
    """The lines that were never executed, as 3-5, 9."""
    spans = []
    previous = None  # the last line with code; lines without code do not end a span
    for number in sorted(lines):
        if lines[number] == 0:
            if spans and spans[-1][1] == previous:
                spans[-1][1] = number
            else:
                spans.append([number, number])
        previous = number
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)

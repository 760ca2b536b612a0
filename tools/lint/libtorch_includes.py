"""Which libtorch headers each of our files reaches, through which of our headers, and what
they cost.

The cost of a header is the number of lines that the preprocessor makes of it. The numbers
stand in a table, so that the check needs no compiler; `tools/bazel run //tools/compile_cost
-- --write_table` measures them.
"""

import collections
import pathlib
import re

TABLE = "tools/lint/libtorch_header_lines.txt"
# A header over this limit makes a file cost several times what tensors cost.
HEAVY_LINES = 200_000

_FOLDERS = ("ATen/", "c10/", "caffe2/", "torch/")
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def is_libtorch(header: str) -> bool:
    return header.startswith(_FOLDERS)


def read_table(root: pathlib.Path) -> dict[str, int]:
    """Header -> lines. Empty without a table."""
    path = root / TABLE
    rows = path.read_text().splitlines() if path.exists() else []
    pairs = (row.split() for row in rows if row and not row.startswith("#"))
    return {header: int(lines) for header, lines in pairs}


class Includes:
    """The include lines of all C++ files of a tree."""

    def __init__(self, root: pathlib.Path, names: list[str]):
        # File -> [(line, what it includes)].
        self.direct: dict[str, list[tuple[int, str]]] = {}
        for name in names:
            if name.endswith((".h", ".hpp", ".cc")):
                lines = (root / name).read_text().splitlines()
                matches = ((number, _INCLUDE.match(line)) for number, line in enumerate(lines, start=1))
                self.direct[name] = [(number, match[1]) for number, match in matches if match]

    def libtorch_headers(self) -> dict[str, str]:
        """Every libtorch header that a file of ours includes -> the first place, as file:line."""
        places = {}
        for name, includes in sorted(self.direct.items()):
            for number, header in includes:
                if is_libtorch(header):
                    places.setdefault(header, f"{name}:{number}")
        return places

    def chains(self, start: str) -> dict[str, list[str]]:
        """Every libtorch header that `start` reaches -> the shortest way to it.

        A way is a list: `start`, headers of ours, the libtorch header.
        """
        found = {}
        ways = collections.deque([[start]])
        seen = {start}
        while ways:
            way = ways.popleft()
            for _, header in self.direct.get(way[-1], []):
                if header in seen:
                    continue
                seen.add(header)
                if is_libtorch(header):
                    found[header] = way + [header]
                elif header in self.direct:
                    ways.append(way + [header])
        return found

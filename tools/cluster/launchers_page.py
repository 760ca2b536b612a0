#!/usr/bin/env python3
"""Compares the table of launchers with the records that a test reads, or writes it.

    launchers_page.py RECORDS PAGE [--write]

RECORDS is backends/processes/testdata/launchers.txt: what each launcher sets, and the place that a process must find by it
(//backends/processes:launcher_table_test). PAGE is LAUNCHERS.md of this folder.
"""

import argparse
import pathlib
import re
import sys

_HEAD = """\
# What a process finds under each launcher

Written by `tools/cluster/launchers_page.py` from `backends/processes/testdata/launchers.txt`, which has the variables of each row.
"real" rows were recorded from the launcher itself, on hosts that are namespaces of one machine or on one host;
`launchers_test` runs those of Slurm, Open MPI and MPICH again. "documentation" rows are the variables that the launcher's documentation
names; it was never run here. Refused: the process ends with an error that says what to add.

| launcher and form | known from | rank | world | local rank | local size | address |
| --- | --- | --- | --- | --- | --- | --- |
"""
_PLACE = re.compile(r"rank (\d+) of (\d+), local (\d+) of (\d+), address (\S+)")


def page(records: str) -> str:
    rows = []
    for known, form, place in re.findall(r"^\[(\w+)\] (.*)\n=> (.*)$", records, re.M):
        if match := _PLACE.fullmatch(place):
            rank, world, local, size, address = match.groups()
            cells = [rank, world, local, size, address]
        else:
            cells = [f'refused: "{place.removeprefix("refused: ")}"', "", "", "", ""]
        rows.append(f"| {' | '.join([f'`{form}`' if known == 'real' else form, known, *cells])} |".replace("|  ", "| "))
    return _HEAD + "\n".join(rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = page(options.records.read_text())
    if options.write:
        options.page.write_text(text)
    elif options.page.read_text() != text:
        print(f"{options.page} does not have the places of {options.records}; write it again: tools/cluster/launchers_page.py "
              "backends/processes/testdata/launchers.txt tools/cluster/LAUNCHERS.md --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

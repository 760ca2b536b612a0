"""Fails on headers that make everyone who includes them compile all of libtorch.

One file with torch/torch.h takes 20 to 30 seconds and 1.3 GB; with the one ATen header
that it needs, two seconds.
"""

import pathlib
import re

_UMBRELLA = re.compile(r'^\s*#\s*include\s*[<"](torch/(?:torch|all|extension)\.h)[>"]')


def check(root: pathlib.Path, names: list[str]) -> list[str]:
    errors = []
    for name in names:
        if not name.endswith((".h", ".hpp")):
            continue
        for number, line in enumerate((root / name).read_text().splitlines(), start=1):
            if match := _UMBRELLA.match(line):
                errors.append(f"{name}:{number}: a header must not include {match[1]}; include the narrowest header, such as ATen/core/Tensor.h")
    return errors

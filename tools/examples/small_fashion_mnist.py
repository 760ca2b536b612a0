#!/usr/bin/env python3
"""Writes the first images of Fashion-MNIST to a folder, as plain IDX files, for tests.

    small_fashion_mnist.py FOLDER TRAINING_IMAGES TEST_IMAGES
"""

import gzip
import math
import pathlib
import sys

_ALL = pathlib.Path("/usr/share/datasets/fashion-mnist")


def _write_first(folder: pathlib.Path, name: str, count: int):
    with gzip.open(_ALL / f"{name}.gz") as source:
        kind = source.read(4)
        # The last byte of the kind is the number of sizes, and the first size is that of images.
        sizes = [int.from_bytes(source.read(4), "big") for _ in range(kind[3])]
        sizes[0] = count
        header = kind + b"".join(size.to_bytes(4, "big") for size in sizes)
        (folder / name).write_bytes(header + source.read(math.prod(sizes)))


def main():
    folder, counts = pathlib.Path(sys.argv[1]), {"train": int(sys.argv[2]), "t10k": int(sys.argv[3])}
    folder.mkdir()
    for part, count in counts.items():
        _write_first(folder, f"{part}-images-idx3-ubyte", count)
        _write_first(folder, f"{part}-labels-idx1-ubyte", count)


if __name__ == "__main__":
    main()

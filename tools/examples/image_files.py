#!/usr/bin/env python3
"""Writes folders of PNG files of two classes: a light square on the left or on the right, on noise.

    image_files.py FOLDER COUNT SIDE

COUNT files of SIDE x SIDE pixels for each class of FOLDER/train, and a fifth of that in FOLDER/test.
"""

import pathlib
import random
import struct
import sys
import zlib


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(side: int, right: bool, rng: random.Random) -> bytes:
    rows = []
    for y in range(side):
        row = bytearray(rng.randbytes(side))
        if side // 4 <= y < 3 * side // 4:
            begin = side // 2 if right else 0
            row[begin : begin + side // 2] = b"\xff" * (side // 2)
        rows.append(b"\0" + bytes(row))
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(b"".join(rows))) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def main() -> int:
    folder, count, side = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(1)
    for part, images in (("train", count), ("test", max(1, count // 5))):
        for name in ("left", "right"):
            (folder / part / name).mkdir(parents=True)
            for i in range(images):
                (folder / part / name / f"{i}.png").write_bytes(_png(side, name == "right", rng))
    return 0


if __name__ == "__main__":
    sys.exit(main())

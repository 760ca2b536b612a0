"""Writes a folder of JPEG files, in two folders of classes, as cameras would: smooth with some noise.

    jpeg_files.py FOLDER COUNT SIDE

Needs Pillow and numpy.
"""

import pathlib
import sys

import numpy as np
from PIL import Image


def main():
    folder, count, side = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    generator = np.random.default_rng(1)
    for i in range(count):
        coarse = generator.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        smooth = np.asarray(Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC), dtype=np.int16)
        noisy = np.clip(smooth + generator.integers(-12, 13, smooth.shape), 0, 255).astype(np.uint8)
        path = folder / f"class{i % 2}" / f"{i}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(noisy).save(path, quality=90)


if __name__ == "__main__":
    main()

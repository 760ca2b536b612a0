"""Time per image of Python's DataLoader on the data of loader.cc.

    python3 python_loader.py WORKERS [FOLDER]

FOLDER has folders of classes with JPEG files of one size; without it, the images are in memory. Needs PyPI's torch, of the
version that third_party/libtorch pins, and Pillow for JPEG files.
"""

import json
import os
import pathlib
import statistics
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

_MEAN, _DEVIATION = 0.1307, 0.3081
_TURNS = 3


class Images(Dataset):
    batch = 128

    def __init__(self):
        self.bytes = torch.randint(0, 256, (60000, 28, 28), dtype=torch.uint8)
        self.labels = torch.randint(0, 10, (60000,))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.bytes[i].float().div_(255).sub_(_MEAN).div_(_DEVIATION), self.labels[i]

    def prepare(self, images):
        return images


class JpegFiles(Dataset):
    """Decodes each image; bytes are sent to the main process, which normalises whole batches."""

    batch = 32

    def __init__(self, folder):
        classes = sorted(path for path in pathlib.Path(folder).iterdir())
        self.files = [(file, label) for label, path in enumerate(classes) for file in sorted(path.iterdir())]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        import numpy
        from PIL import Image

        file, label = self.files[i]
        with Image.open(file) as image:
            # A copy, because a tensor must be able to write.
            return torch.from_numpy(numpy.array(image.convert("RGB"))).permute(2, 0, 1), label

    def prepare(self, images):
        return images.float().div_(255).sub_(_MEAN).div_(_DEVIATION)


def work():
    """Seconds of cores, with those of workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def epoch(loader):
    batches = iter(loader)
    loader.dataset.prepare(next(batches)[0])  # starting up is not throughput
    start, start_work, rows = time.perf_counter(), work(), 0
    for images, _ in batches:
        rows += len(loader.dataset.prepare(images))
    return 1e6 * (time.perf_counter() - start) / rows, 1e6 * (work() - start_work) / rows


def main():
    torch.set_num_threads(1)
    workers = int(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else ""
    data = JpegFiles(folder) if folder else Images()
    loader = DataLoader(data, batch_size=data.batch, shuffle=True, num_workers=workers)
    walls, cores = zip(*(epoch(loader) for _ in range(_TURNS)))
    print("@@" + json.dumps({
        "us_per_image": statistics.median(walls), "core_us": statistics.median(cores),
        "what": f"Python's DataLoader, workers: {workers}"}))


if __name__ == "__main__":
    main()

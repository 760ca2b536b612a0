"""Samples per second of Python's DataLoader on the data of loader.cc.

    python3 python_loader.py WORKERS [TURNS]

Needs PyPI's torch, of the version that third_party/libtorch pins.
"""

import os
import statistics
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.bytes = torch.randint(0, 256, (60000, 28, 28), dtype=torch.uint8)
        self.labels = torch.randint(0, 10, (60000,))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.bytes[i].float().div_(255).sub_(0.1307).div_(0.3081), self.labels[i]


def work():
    """Seconds of cores, with those of workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def epoch(loader):
    batches = iter(loader)
    next(batches)  # starting up is not throughput
    start, start_work, rows = time.perf_counter(), work(), 0
    for images, _ in batches:
        rows += len(images)
    return rows / (time.perf_counter() - start), rows / (work() - start_work)


def main():
    torch.set_num_threads(1)
    workers = int(sys.argv[1])
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    loader = DataLoader(Images(), batch_size=128, shuffle=True, num_workers=workers)
    walls, cores = zip(*(epoch(loader) for _ in range(turns)))
    print(f"python{workers:<11} {statistics.median(walls):10.0f} {statistics.median(cores):10.0f}  "
          f"Python's DataLoader, workers: {workers}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes backends/testdata/ddp.txt: what Python's DistributedDataParallel makes of a known run.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 numpy
    /tmp/golden/bin/python tools/golden/ddp.py backends/testdata/ddp.txt

The network and the data are those of backends/testing/ddp_rig.cc. For 2 and for 4 processes: a line
`ranks N`, then one line per parameter after 100 updates of SGD with momentum.
"""

import os
import sys
import tempfile

import torch
import torch.distributed
import torch.multiprocessing

INPUTS, HIDDEN, CLASSES = 12, 16, 4
PER_UPDATE, UPDATES = 32, 100


class Generator:
    """Multiples of 2**-24 in [-0.5, 0.5): exact in float32."""

    def __init__(self, seed):
        self.state = seed % 2**32

    def fill(self, shape):
        values = []
        for _ in range(torch.Size(shape).numel()):
            self.state = (self.state * 1664525 + 1013904223) % 2**32
            values.append((self.state >> 8) / 2**24 - 0.5)
        return torch.tensor(values, dtype=torch.float64).reshape(shape).float()


def inputs(begin, count):
    return torch.stack([Generator((begin + i) * 7919 + 17).fill((INPUTS,)) for i in range(count)])


def targets(begin, count):
    return torch.tensor([(r * 5 + r // 3) % CLASSES for r in range(begin, begin + count)])


def train(rank, ranks, folder):
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous{ranks}", rank=rank, world_size=ranks)
    model = torch.nn.Sequential(
        torch.nn.Linear(INPUTS, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, CLASSES))
    generator = Generator(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(generator.fill(parameter.shape))
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    rows = PER_UPDATE // ranks
    for update in range(UPDATES):
        begin = update * PER_UPDATE + rank * rows
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(parallel(inputs(begin, rows)), targets(begin, rows)).backward()
        optimizer.step()
    if rank == 0:
        with open(f"{folder}/{ranks}", "w", encoding="ascii") as out:
            print("ranks", ranks, file=out)
            for parameter in model.parameters():
                print(" ".join("%.9g" % value for value in parameter.flatten().tolist()), file=out)
    torch.distributed.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder, open(sys.argv[1], "w", encoding="ascii") as out:
        print("# tools/golden/ddp.py, torch", torch.__version__.split("+")[0], file=out)
        for ranks in (2, 4):
            torch.multiprocessing.spawn(train, (ranks, folder), nprocs=ranks)
            with open(os.path.join(folder, str(ranks)), encoding="ascii") as part:
                out.write(part.read())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes backends/testdata/ddp.txt: what Python's DistributedDataParallel makes of a known run.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 numpy
    /tmp/golden/bin/python tools/golden/ddp.py backends/testdata/ddp.txt

The network and the data are those of backends/testing/ddp_rig.cc. For 2 and for 4 processes: a line
`ranks N`, then one line per parameter after 100 updates of SGD with momentum.
"""

import sys

import torch

import ddp_rig

UPDATES = 100


def train(rank, ranks):
    model = ddp_rig.make_model()
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    rows = ddp_rig.PER_UPDATE // ranks
    for update in range(UPDATES):
        optimizer.zero_grad()
        ddp_rig.loss(parallel, update * ddp_rig.PER_UPDATE + rank * rows, rows).backward()
        optimizer.step()
    return model.parameters()


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        print("# tools/golden/ddp.py, torch", torch.__version__.split("+")[0], file=out)
        for ranks in (2, 4):
            print("ranks", ranks, file=out)
            out.write(ddp_rig.train_on_ranks(ranks, train))


if __name__ == "__main__":
    main()

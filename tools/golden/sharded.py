#!/usr/bin/env python3
"""Writes backends/sharded/testdata/sharded.txt: what Python's sharded training makes of a known run.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 numpy
    /tmp/golden/bin/python tools/golden/sharded.py backends/sharded/testdata/sharded.txt

The network and the data are those of backends/testing/ddp_rig.cc. For ZeroRedundancyOptimizer (over
DistributedDataParallel) and for fully_shard (every layer and the whole), on 2 and 4 processes, with and
without accumulation and clipping: a line such as `fully_shard 4 plain`, then one line per parameter after
50 updates of AdamW.
"""

import functools
import sys

import torch
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer

import ddp_rig

UPDATES = 50
# The number of batches in a window, and the limit of the norm.
SETTINGS = {"plain": (1, None), "accumulated": (4, None), "clipped": (1, 0.05)}
ADAMW = {"lr": 0.01, "weight_decay": 0.1}


def train_zero(batches, limit, rank, ranks):
    model = torch.nn.parallel.DistributedDataParallel(ddp_rig.make_model())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, **ADAMW)
    run(model, optimizer, batches, limit, rank, ranks)
    return model.parameters()


def train_sharded(batches, limit, rank, ranks):
    model = ddp_rig.make_model()
    mesh = torch.distributed.init_device_mesh("cpu", (ranks,))
    for layer in model:
        if list(layer.parameters()):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), **ADAMW)
    run(model, optimizer, batches, limit, rank, ranks)
    return [parameter.full_tensor() for parameter in model.parameters()]


def run(model, optimizer, batches, limit, rank, ranks):
    rows = ddp_rig.PER_UPDATE // ranks // batches
    for update in range(UPDATES):
        optimizer.zero_grad()
        for i in range(batches):
            # Gradients that every batch exchanges add up to the same sum.
            begin = update * ddp_rig.PER_UPDATE + (rank * batches + i) * rows
            (ddp_rig.loss(model, begin, rows) / batches).backward()
        if limit is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
        optimizer.step()


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        print("# tools/golden/sharded.py, torch", torch.__version__.split("+")[0], file=out)
        for name, train in (("ZeroRedundancyOptimizer", train_zero), ("fully_shard", train_sharded)):
            for ranks in (2, 4):
                for setting, (batches, limit) in SETTINGS.items():
                    print(name, ranks, setting, file=out)
                    out.write(ddp_rig.train_on_ranks(ranks, functools.partial(train, batches, limit)))


if __name__ == "__main__":
    main()

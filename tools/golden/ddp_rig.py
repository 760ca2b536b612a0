"""The network and the data of backends/testing/ddp_rig.cc in Python, for scripts that train on several ranks."""

import os
import tempfile

import torch
import torch.distributed
import torch.multiprocessing

INPUTS, HIDDEN, CLASSES = 12, 16, 4
PER_UPDATE = 32


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


def loss(model, begin, count):
    return torch.nn.functional.cross_entropy(model(inputs(begin, count)), targets(begin, count))


def make_model():
    model = torch.nn.Sequential(
        torch.nn.Linear(INPUTS, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, CLASSES))
    generator = Generator(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(generator.fill(parameter.shape))
    return model


def _run_rank(rank, ranks, folder, train):
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks)
    parameters = train(rank, ranks)
    if rank == 0:
        with open(f"{folder}/parameters", "w", encoding="ascii") as out:
            for parameter in parameters:
                print(" ".join("%.9g" % value for value in parameter.flatten().tolist()), file=out)
    torch.distributed.destroy_process_group()


def train_on_ranks(ranks, train):
    """Calls train(rank, ranks) in so many processes: one line of text per parameter that it returns on rank 0."""
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_run_rank, (ranks, folder, train), nprocs=ranks)
        with open(os.path.join(folder, "parameters"), encoding="ascii") as lines:
            return lines.read()

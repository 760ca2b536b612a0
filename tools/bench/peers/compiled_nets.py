"""The networks of the comparison for tools/convert/export_model.py: (module, inputs, targets) of one batch each."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from workloads import BATCH, Task  # noqa: E402


class ClassesSecond(torch.nn.Module):
    """The classes are dimension 1 of the outputs, as cross entropy requires."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, inputs):
        return self.network(inputs).transpose(1, 2)


def _batch(name):
    task = Task(name, 1)
    network = ClassesSecond(task.model) if name == "transformer" else task.model
    return network, (task.input[:BATCH[name]],), task.target[:BATCH[name]]


def tiny():
    return _batch("tiny")


def mlp():
    return _batch("mlp")


def transformer():
    return _batch("transformer")


def conv():
    return _batch("conv")

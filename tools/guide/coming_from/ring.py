"""What all Python programs of this folder train: whether a point of the plane lies in a ring.

Data and initial weights are formulas, so that ring.cc makes the same ones.
"""

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

EPOCHS = 3
BATCH = 64
UPDATES = EPOCHS * 4096 // BATCH
RATE = 1e-2


def make_data(count: int, first: int) -> TensorDataset:
    i = torch.arange(first, first + count, dtype=torch.float64)
    angle, radius = i * 2.4, torch.remainder(i * 0.6180339887, 1)
    points = torch.stack([angle.cos() * radius, angle.sin() * radius], 1)
    return TensorDataset(points.float(), ((radius > 0.4) & (radius < 0.8)).long())


def train_data() -> TensorDataset:
    return make_data(4096, 0)


def eval_data() -> TensorDataset:
    return make_data(1024, 4096)


def make_net() -> torch.nn.Sequential:
    net = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
    with torch.no_grad():
        for parameter in net.parameters():
            i = torch.arange(parameter.numel(), dtype=torch.float64)
            parameter.copy_((i * 1.7 + 0.3).sin().mul(0.7).reshape(parameter.shape))
    return net


def report(net: torch.nn.Module) -> None:
    """Prints the losses of the final weights."""
    net.eval()
    with torch.no_grad():
        losses = [cross_entropy(net(data.tensors[0]), data.tensors[1]).item() for data in (train_data(), eval_data())]
    print(f"final train_loss={losses[0]:.8f} eval_loss={losses[1]:.8f}")

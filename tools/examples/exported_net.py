"""The network of the example train_exported: any PyTorch module will do that takes images (N x 1 x 28 x 28) and returns ten scores.

    python3 -m venv /tmp/export
    /tmp/export/bin/pip install torch==2.13.0 safetensors==0.8.0 numpy
    /tmp/export/bin/python tools/convert/export_model.py tools/examples/exported_net.py:make_net \\
        --out=tools/examples/pretrained/exported_net.safetensors
"""

import torch
from torch import nn


class Residual(nn.Module):

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return nn.functional.silu(x + self.body(x))


class Net(nn.Module):

    def __init__(self, width=16, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 4, stride=4, bias=False), nn.BatchNorm2d(width), nn.SiLU())
        self.blocks = nn.Sequential(Residual(width), Residual(width))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(width * 7 * 7, classes))

    def forward(self, images):
        return self.head(self.blocks(self.stem(images)))


def make_net():
    torch.manual_seed(1)
    return Net(), (torch.randn(4, 1, 28, 28),)

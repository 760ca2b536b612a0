#!/usr/bin/env python3
"""A small network as Python exports it, for finetuning/warm_start/script_training_test.cc, and a check of what comes back.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 safetensors==0.8.0 numpy
    /tmp/golden/bin/python tools/golden/script_net.py write finetuning/warm_start/testdata
    TEST_TMPDIR=/tmp/tuned bazel-bin/finetuning/warm_start/script_training_test     # the folder must be there
    /tmp/golden/bin/python tools/golden/script_net.py check /tmp/tuned

`write`: net.pt in TorchScript, and other weights for it, weights.safetensors. `check`: tuned.pt, which C++ trained and exported,
must compute in Python what it computed in C++ (outputs.safetensors), and have the weights of tuned.safetensors, bit for bit.
"""

import sys
import warnings

import torch
from safetensors.torch import load_file, save_file
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4 * 6 * 6, 3)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.stem(x))).flatten(1))


def write(folder):
    torch.manual_seed(1)
    torch.jit.script(Net()).save(folder + "/net.pt")
    save_file(Net().state_dict(), folder + "/weights.safetensors", {"format": "pt"})


def check(folder):
    net = torch.jit.load(folder + "/tuned.pt")
    assert not net.training
    saved = load_file(folder + "/outputs.safetensors")
    assert torch.equal(net(saved["inputs"]), saved["outputs"])
    weights = load_file(folder + "/tuned.safetensors")
    state = net.state_dict()
    assert weights.keys() == state.keys(), (weights.keys(), state.keys())
    for name, tensor in state.items():
        assert tensor.dtype == weights[name].dtype and torch.equal(tensor, weights[name]), name
    plain = Net()
    plain.load_state_dict(weights)
    plain.eval()
    assert torch.equal(plain(saved["inputs"]), saved["outputs"])
    print("%d tensors and %d outputs are the same to the bit" % (len(state), saved["outputs"].numel()))


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])

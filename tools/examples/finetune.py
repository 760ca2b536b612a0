#!/usr/bin/env python3
"""The Python side of the example `finetune`: makes the network that it starts from, and judges the one that it leaves.

    python3 -m venv /tmp/finetune
    /tmp/finetune/bin/pip install torch==2.13.0 safetensors==0.8.0 numpy
    /tmp/finetune/bin/python tools/examples/finetune.py pretrain tools/examples/pretrained/clothes.safetensors
    tools/bazel run //tools/examples:finetune -- --export=/tmp/shoes.safetensors
    /tmp/finetune/bin/python tools/examples/finetune.py evaluate /tmp/shoes.safetensors

`pretrain` trains on the clothes of Fashion-MNIST (classes 0 to 4); `evaluate` says which share of test images an exported
network gets right, of the shoes, shirts and bags (classes 5 to 9) or, with --clothes, of the clothes. `check` runs the
C++ program itself (tools/bazel build //tools/examples:finetune before it) and compares: weights that only went through
it must come back bit for bit, and accuracies must be equal.
"""

import argparse
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import torch
from safetensors.torch import load_file, save_file
from torch import nn

DATA = "/usr/share/datasets/fashion-mnist"
PROGRAM = "bazel-bin/tools/examples/finetune"
PRETRAINED = "tools/examples/pretrained/clothes.safetensors"


def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2))


class Net(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.stem = stage(1, 16)
        self.middle = stage(16, 32)
        self.top = stage(32, 64)
        self.head = nn.Linear(64 * 3 * 3, classes)

    def forward(self, images):
        return self.head(self.top(self.middle(self.stem(images))).flatten(1))


def read(part, first_class):
    """Images as the C++ program normalises them, and labels from 0, of five classes."""
    with gzip.open("%s/%s-images-idx3-ubyte.gz" % (DATA, part)) as file:
        images = torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8, offset=16).copy())
    with gzip.open("%s/%s-labels-idx1-ubyte.gz" % (DATA, part)) as file:
        labels = torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8, offset=8).copy()).long()
    images = images.view(-1, 1, 28, 28).float() * numpy.float32(1 / (255 * 0.3530)) - numpy.float32(0.2860 / 0.3530)
    chosen = (labels >= first_class) & (labels < first_class + 5)
    return images[chosen], labels[chosen] - first_class


def count_right(net, images, labels):
    net.eval()
    with torch.no_grad():
        return sum(
            (net(images[i:i + 1000]).argmax(1) == labels[i:i + 1000]).sum().item() for i in range(0, len(labels), 1000))


def pretrain(path, epochs=6):
    torch.manual_seed(1)
    images, labels = read("train", 0)
    net = Net()
    steps = epochs * (len(labels) // 128)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, steps)
    for epoch in range(epochs):
        order = torch.randperm(len(labels))
        for i in range(len(labels) // 128):
            rows = order[i * 128:(i + 1) * 128]
            loss = nn.functional.cross_entropy(net(images[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        net.eval()
        test_images, test_labels = read("t10k", 0)
        print("epoch %d: accuracy %.4f" % (epoch + 1, count_right(net, test_images, test_labels) / len(test_labels)))
        net.train()
    save_file(net.state_dict(), path, {"format": "pt"})


def evaluate(path, first_class):
    net = Net()
    net.load_state_dict(load_file(path))
    images, labels = read("t10k", first_class)
    right = count_right(net, images, labels)
    print("%s: %d of %d test images right, accuracy %.4f" % (path, right, len(labels), right / len(labels)))
    return right


def run(*flags):
    """The program's output, and how many test images it says are right."""
    output = subprocess.run([PROGRAM, *flags], check=True, capture_output=True, text=True).stdout
    return int(re.findall(r"(\d+) of \d+ test images right", output)[-1])


def check():
    with tempfile.TemporaryDirectory() as folder:
        # Only through it and back.
        copy = folder + "/copy.safetensors"
        right = run("--keep_head", "--epochs=0", "--export=" + copy)
        before, after = load_file(PRETRAINED), load_file(copy)
        assert before.keys() == after.keys(), (before.keys(), after.keys())
        for name, tensor in before.items():
            assert tensor.dtype == after[name].dtype and torch.equal(tensor, after[name]), name
        print("%d tensors came back bit for bit" % len(before))
        python = evaluate(copy, 0)
        assert right == python, "C++ has %d right, Python %d" % (right, python)
        # Trained.
        tuned = folder + "/tuned.safetensors"
        right = run("--export=" + tuned)
        python = evaluate(tuned, 5)
        assert right == python, "C++ has %d right, Python %d" % (right, python)
        assert not torch.equal(before["stem.0.weight"], load_file(tuned)["stem.0.weight"])
        print("accuracies are equal in C++ and in Python")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("pretrain").add_argument("path", type=pathlib.Path)
    judged = commands.add_parser("evaluate")
    judged.add_argument("path")
    judged.add_argument("--clothes", action="store_true")
    commands.add_parser("check")
    args = parser.parse_args()
    if args.command == "pretrain":
        pretrain(args.path)
    elif args.command == "evaluate":
        evaluate(args.path, 0 if args.clothes else 5)
    else:
        check()
    return 0


if __name__ == "__main__":
    sys.exit(main())

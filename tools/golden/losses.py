#!/usr/bin/env python3
"""Writes finetuning/losses/testdata/losses.txt: losses and their gradients as torch computes them.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 numpy
    /tmp/golden/bin/python tools/golden/losses.py finetuning/losses/testdata/losses.txt

A case is a line `case NAME key=value ...` and one line for each tensor: its name, its shape as 2x3, and its values. `loss` and
`gradient`, that of the outputs, are float32 as computed; labels are written as numbers, too.
"""

import sys

import torch
import torch.nn.functional as F

ROWS, CLASSES = 6, 5


def distillation(student, teacher, labels, temperature, alpha):
    """The formula of the paper, as published recipes write it with torch's own functions."""
    soft = F.kl_div(
        F.log_softmax(student / temperature, -1), F.softmax(teacher / temperature, -1), reduction="batchmean")
    return alpha * temperature ** 2 * soft + (1 - alpha) * F.cross_entropy(student, labels)


def soft_target(outputs, shares):
    """As mixup recipes write it: torch's function with shares came later."""
    return torch.sum(-shares * F.log_softmax(outputs, -1), -1).mean()


def cases():
    torch.manual_seed(11)
    outputs = torch.randn(ROWS, CLASSES) * 3
    teacher = torch.randn(ROWS, CLASSES) * 5
    labels = torch.randint(CLASSES, (ROWS,))
    own = torch.rand(ROWS, 1)
    hot = F.one_hot(labels, CLASSES).float()
    shares = own * hot + (1 - own) * hot.roll(1, 0)
    for temperature, alpha in [(1, 1), (1, 0.5), (4, 0.9), (0.5, 0.3), (20, 0)]:
        yield ("distillation", dict(temperature=temperature, alpha=alpha),
               dict(outputs=outputs, teacher=teacher, target=labels),
               lambda o, t=temperature, a=alpha: distillation(o, teacher, labels, t, a))
    for smoothing in (0, 0.1, 1):
        yield ("numbers", dict(smoothing=smoothing), dict(outputs=outputs, target=labels),
               lambda o, s=smoothing: F.cross_entropy(o, labels, label_smoothing=s))
        yield ("shares", dict(smoothing=smoothing), dict(outputs=outputs, target=shares),
               lambda o, s=smoothing: F.cross_entropy(o, shares, label_smoothing=s))
    yield ("shares", dict(smoothing=0), dict(outputs=outputs, target=shares), lambda o: soft_target(o, shares))
    # Recipes smooth both labels before they mix them: it is the same.
    smooth = hot * 0.9 + 0.1 / CLASSES
    mixed = own * smooth + (1 - own) * smooth.roll(1, 0)
    yield ("shares", dict(smoothing=0.1), dict(outputs=outputs, target=shares),
           lambda o: soft_target(o, mixed))


def line(name, tensor):
    values = " ".join("%.9g" % v for v in tensor.detach().flatten().tolist())
    return "%s %s %s" % (name, "x".join(map(str, tensor.shape)) or "1", values)


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        print("# tools/golden/losses.py, torch", torch.__version__.split("+")[0], file=out)
        for name, options, tensors, loss_of in cases():
            outputs = tensors["outputs"].clone().requires_grad_()
            loss = loss_of(outputs)
            loss.backward()
            print("case", name, *("%s=%.9g" % item for item in options.items()), file=out)
            for key, tensor in {**tensors, "loss": loss, "gradient": outputs.grad}.items():
                print(line(key, tensor), file=out)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes finetuning/testdata/averages.txt: what timm and torch average a known model to.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 timm==1.0.30 numpy
    /tmp/golden/bin/python tools/golden/averages.py finetuning/testdata/averages.txt

The model has a parameter `w` of 5 elements and a buffer `m` of 3. After update u (from 1 to 500),
element i of both is sin(0.37 u + i) + i / 4, rounded to a float. A case is a line `case NAME` and
one line `UPDATES w... m...` for some of the updates. The case `batch_norm` is something else:
mean, variance and count of a BatchNorm1d(2) after update_bn over 4 batches of 5 samples, whose
element k (row by row, through all batches) is cos(k).
"""

import importlib.util
import math
import pathlib
import sys

import torch
from torch.optim import swa_utils

UPDATES = 500
SHOWN = (1, 2, 10, 100, 500)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(5))
        self.register_buffer("m", torch.zeros(3))

    def move(self, update):
        for tensor in (self.w.data, self.m):
            for i in range(tensor.numel()):
                tensor[i] = math.sin(0.37 * update + i) + i / 4


def timm_model_ema():
    """timm's file by itself: the package would import torchvision."""
    package = pathlib.Path(importlib.util.find_spec("timm").origin).parent
    spec = importlib.util.spec_from_file_location("timm_model_ema", package / "utils" / "model_ema.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelEmaV3


def timm_case(**options):
    ema = timm_model_ema()(Model(), **options)
    use_step = options.get("use_warmup", False)
    return ema.module, lambda model, update: ema.update(model, step=update if use_step else None)


def torch_case(multi_avg_fn=None):
    average = swa_utils.AveragedModel(Model(), multi_avg_fn=multi_avg_fn, use_buffers=True)
    return average.module, lambda model, update: average.update_parameters(model)


def batch_norm():
    norm = torch.nn.BatchNorm1d(2)
    data = torch.tensor([math.cos(k) for k in range(40)]).view(4, 5, 2)
    swa_utils.update_bn(data, norm)
    return [*norm.running_mean.tolist(), *norm.running_var.tolist(), norm.num_batches_tracked.item()]


def main(path):
    cases = {
        "timm_constant": timm_case(decay=0.99),
        "timm_ramp": timm_case(decay=0.99, use_warmup=True),
        "timm_ramp_slow": timm_case(decay=0.999, use_warmup=True, warmup_gamma=12.0, warmup_power=0.75),
        "torch_ema": torch_case(swa_utils.get_ema_multi_avg_fn(0.99)),
        "torch_swa": torch_case(),
    }
    with open(path, "w", encoding="ascii") as out:
        for name, (average, update_average) in cases.items():
            out.write(f"case {name}\n")
            model = Model()
            for update in range(1, UPDATES + 1):
                model.move(update)
                update_average(model, update)
                if update in SHOWN:
                    values = [*average.w.tolist(), *average.m.tolist()]
                    out.write(" ".join([str(update), *(f"{value:.9g}" for value in values)]) + "\n")
        out.write("case batch_norm\n4 " + " ".join(f"{value:.9g}" for value in batch_norm()) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])

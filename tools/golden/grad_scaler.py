#!/usr/bin/env python3
"""Writes backends/testdata/grad_scaler.txt: what torch.amp.GradScaler makes of a known sequence.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 numpy
    /tmp/golden/bin/python tools/golden/grad_scaler.py backends/testdata/grad_scaler.txt

Two optimizers (plain SGD over two elements each) share a scaler. In update u, optimizer o gets
the gradient (u % 5 + 1) * (o + 1) / 8 in each element; the first element of some updates is inf
or nan instead. A case is a line `case NAME key=value ...` and one line per update: which
gradients were not finite (as `inf` or `nan` per optimizer, else `-`), scale, growth tracker, and
both optimizers' second parameters.
"""

import sys

import torch

CASES = {
    "defaults": dict(init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000),
    "quick": dict(init_scale=1024.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=3),
    "odd": dict(init_scale=1000.0, growth_factor=1.7, backoff_factor=0.3, growth_interval=2),
    # Grows until float32 would overflow, where it must stay.
    "ceiling": dict(init_scale=1e37, growth_factor=3.0, backoff_factor=0.5, growth_interval=1),
}
UPDATES = 60


def bad(update, optimizer):
    if update in (3, 4, 17):
        return "inf" if optimizer == 0 else "-"
    if update in (9, 31):
        return "nan" if optimizer == 1 else "-"
    if update == 22:
        return "inf"
    return "-"


def run(options):
    scaler = torch.amp.GradScaler("cpu", **options)
    params = [torch.ones(2, requires_grad=True) for _ in range(2)]
    optimizers = [torch.optim.SGD([p], lr=0.1) for p in params]
    for update in range(UPDATES):
        marks = []
        for o, (param, optimizer) in enumerate(zip(params, optimizers)):
            optimizer.zero_grad()
            value = (update % 5 + 1) * (o + 1) / 8
            mark = bad(update, o)
            weights = torch.full((2,), value)
            if mark != "-":
                weights[0] = float(mark)
            scaler.scale((param * weights).sum()).backward()
            marks.append(mark)
        for optimizer in optimizers:
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
        scaler.update()
        state = scaler.state_dict()
        yield "%s %s %.9g %d %.9g %.9g" % (
            *marks, state["scale"], state["_growth_tracker"], params[0][1].item(), params[1][1].item())


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        print("# tools/golden/grad_scaler.py, torch", torch.__version__.split("+")[0], file=out)
        for name, options in CASES.items():
            print("case", name, *("%s=%.9g" % item for item in options.items()), file=out)
            for line in run(options):
                print(line, file=out)


if __name__ == "__main__":
    main()

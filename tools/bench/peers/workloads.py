"""Networks, data and step clock of the Python programs of the comparison; workloads.h has the same for C++.

Every framework trains with AdamW (rate 1e-3), cosine schedule per update, and the gradient norm clipped to 1.
"""

import json
import os
import statistics
import time

WARMUP = 5
RATE = 1e-3
LARGEST_NORM = 1.0
VOCABULARY, LENGTH, WIDTH, HEADS, FEED_FORWARD, LAYERS = 1000, 64, 128, 4, 512, 4
BATCH = {"tiny": 32, "mlp": 128, "transformer": 16}
WIDTHS = {"tiny": (32, 64, 64, 10), "mlp": (784, 1024, 1024, 10)}


def rank():
    return int(os.environ.get("RANK", "0"))


def ranks():
    return int(os.environ.get("WORLD_SIZE", "1"))


def print_result(ends, loss):
    """Prints the line that peers.py reads. `ends`: wall-clock times at which the steps ended."""
    times = [after - before for before, after in zip(ends[WARMUP - 1:], ends[WARMUP:])]
    result = {
        "mean_ms": 1e3 * statistics.mean(times),
        "p50_ms": 1e3 * statistics.median(times),
        "startup_s": ends[0] - float(os.environ.get("BENCH_LAUNCH", "nan")),
        "steps": len(ends),
        "final_loss": loss,
    }
    print("@@" + json.dumps(result), flush=True)


class Task:
    """Network, loss and records of one workload in torch, and the clock of its steps.

    One hook of all torch optimizers measures the steps, so that no framework needs a callback for it.
    """

    def __init__(self, name, steps):
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self.steps = steps
        self.batch = BATCH[name]
        records = self.batch * steps * ranks()
        torch.manual_seed(0)
        if name == "transformer":
            self.input = torch.randint(0, VOCABULARY, (records, LENGTH))
            self.target = (self.input * 7 + 3) % VOCABULARY
        else:
            widths = WIDTHS[name]
            self.input = torch.randn(records, widths[0])
            self.target = (self.input @ torch.randn(widths[0], widths[-1])).argmax(1)
        torch.manual_seed(1)
        self.model = _encoder() if name == "transformer" else _mlp(WIDTHS[name])
        self.data = torch.utils.data.TensorDataset(self.input, self.target)
        self.ends = []
        register_optimizer_step_post_hook(lambda *_: self.ends.append(time.time()))

    def loss(self, logits, target):
        from torch.nn import functional

        return functional.cross_entropy(logits.flatten(0, -2), target.flatten())

    def finish(self):
        """Checks the number of steps and prints the result of rank 0."""
        import torch

        if len(self.ends) != self.steps:
            raise RuntimeError(f"the framework ran {len(self.ends)} optimizer steps, not {self.steps}")
        if rank() != 0:
            return
        self.model.eval()
        with torch.no_grad():
            print_result(self.ends, self.loss(self.model(self.input[:512]), self.target[:512]).item())


def _mlp(widths):
    from torch import nn

    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _encoder():
    import torch
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, WIDTH)
            self.position = nn.Parameter(torch.zeros(LENGTH, WIDTH))
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, FEED_FORWARD, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
            self.head = nn.Linear(WIDTH, VOCABULARY)

        def forward(self, tokens):
            return self.head(self.encoder(self.embedding(tokens) + self.position))

    return Encoder()

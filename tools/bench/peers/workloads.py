"""Networks, data and step clock of the Python programs of the comparison; workloads.h has the same for C++.

Every framework trains with AdamW, cosine schedule per update, and the gradient norm clipped to 1.
"""

import gzip
import json
import math
import os
import statistics
import time

WARMUP = 5
LARGEST_NORM = 1.0
VOCABULARY, LENGTH, WIDTH, HEADS, FEED_FORWARD, LAYERS = 1000, 64, 128, 4, 512, 4
BATCH = {"tiny": 32, "mlp": 128, "transformer": 16, "conv": 128}
RATE = {"tiny": 1e-3, "mlp": 1e-3, "transformer": 1e-3, "conv": 3e-3}
WIDTHS = {"tiny": (32, 64, 64, 10), "mlp": (784, 1024, 1024, 10)}
DROPOUT = 0.25  # of the convolution net

# Of the row of accuracy: epochs of the schedule, and the accuracy at which a run ends.
EPOCHS = 5
WANTED = 0.91
_EVALUATED = 1000  # images per batch of an evaluation
_FASHION_MNIST = "/usr/share/datasets/fashion-mnist"
_MEAN, _DEVIATION = 0.2860, 0.3530


def rank():
    return int(os.environ.get("RANK", "0"))


def ranks():
    return int(os.environ.get("WORLD_SIZE", "1"))


def read_fashion_mnist(part):
    """The normalised images (N x 1 x 28 x 28) and classes of "train" or "t10k", as arrays."""
    import numpy as np

    def read(name, header):
        with gzip.open(f"{_FASHION_MNIST}/{part}-{name}-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    images = read("images-idx3", 16).reshape(-1, 1, 28, 28).astype(np.float32)
    images *= 1 / (255 * _DEVIATION)
    images -= _MEAN / _DEVIATION
    return images, read("labels-idx1", 8).astype(np.int64)


def _since_launch(end):
    return end - float(os.environ.get("BENCH_LAUNCH", "nan"))


def print_result(ends, loss):
    """Prints the line that peers.py reads. `ends`: wall-clock times at which the steps ended."""
    times = [after - before for before, after in zip(ends[WARMUP - 1:], ends[WARMUP:])]
    result = {
        "mean_ms": 1e3 * statistics.mean(times),
        "p50_ms": 1e3 * statistics.median(times),
        "startup_s": _since_launch(ends[0]),
        "steps": len(ends),
        "final_loss": loss,
    }
    print("@@" + json.dumps(result), flush=True)


class AccuracyClock:
    """Evaluates after each epoch, and ends the process when the accuracy is reached.

    `correct` returns how many of given images a network gets right; the same function for all frameworks of one
    library, so that only their training differs.
    """

    def __init__(self, correct):
        self._images, self._classes = read_fashion_mnist("t10k")
        self._correct = correct
        self._seen = []

    def epoch_ended(self):
        right = sum(
            int(self._correct(self._images[i:i + _EVALUATED], self._classes[i:i + _EVALUATED]))
            for i in range(0, len(self._classes), _EVALUATED))
        self._seen.append(right / len(self._classes))
        if self._seen[-1] >= WANTED:
            result = {"seconds": _since_launch(time.time()), "epochs": len(self._seen), "accuracy": self._seen[-1]}
            print("@@" + json.dumps(result), flush=True)
            os._exit(0)  # whatever the framework would still do is not counted
        if len(self._seen) == EPOCHS:
            raise RuntimeError(f"the accuracy was {self._seen} after {EPOCHS} epochs")


class Task:
    """Network, loss and records of one workload in torch, and the clock of its steps.

    One hook of all torch optimizers measures the steps, so that no framework needs a callback for it.
    """

    def __init__(self, name, steps):
        """`steps` is 0 for the row of accuracy, which trains on all records for several epochs."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self.name = name
        self.rate = RATE[name]
        self.batch = BATCH[name]
        self.epochs = 1 if steps else EPOCHS
        torch.manual_seed(0)
        self.input, self.target = _records(name, self.batch * steps * ranks())
        self.epoch_steps = math.ceil(len(self.input) / self.batch / ranks())
        self.steps = self.epoch_steps * self.epochs
        torch.manual_seed(1)
        self.model = _network(name)
        self.data = torch.utils.data.TensorDataset(self.input, self.target)
        self.ends = []
        self._accuracy = None if steps else AccuracyClock(self._correct)
        register_optimizer_step_post_hook(lambda *_: self._step_ended())

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

    def _step_ended(self):
        self.ends.append(time.time())
        if self._accuracy and len(self.ends) % self.epoch_steps == 0:
            self._accuracy.epoch_ended()

    def _correct(self, images, classes):
        import torch

        before = self.model.training
        self.model.eval()
        with torch.no_grad():
            found = self.model(torch.from_numpy(images)).argmax(1)
        self.model.train(before)
        return (found == torch.from_numpy(classes)).sum()


def _records(name, count):
    """`count` is 0 for all that there are."""
    import torch

    if name == "conv":
        images, classes = read_fashion_mnist("train")
        count = count or len(images)
        return torch.from_numpy(images[:count]), torch.from_numpy(classes[:count])
    if name == "transformer":
        tokens = torch.randint(0, VOCABULARY, (count, LENGTH))
        return tokens, (tokens * 7 + 3) % VOCABULARY
    widths = WIDTHS[name]
    values = torch.randn(count, widths[0])
    return values, (values @ torch.randn(widths[0], widths[-1])).argmax(1)


def _network(name):
    return {"transformer": _encoder, "conv": _conv_net}.get(name, lambda: _mlp(WIDTHS[name]))()


def _mlp(widths):
    from torch import nn

    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _conv_net():
    """As tools/examples/conv_net.h. Pooling before the activation gives the same on a quarter of the elements."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(inplace=True),
        nn.Conv2d(16, 32, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(inplace=True),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(inplace=True), nn.Dropout(DROPOUT), nn.Linear(128, 10))


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

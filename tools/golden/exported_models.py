#!/usr/bin/env python3
"""Small models, exported for C++, and what Python computes with them: for the tests in trainer/exported.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 safetensors==0.8.0 numpy
    /tmp/golden/bin/python tools/golden/exported_models.py write trainer/exported/testdata
    TEST_TMPDIR=/tmp/tuned bazel-bin/trainer/exported/exported_golden_test     # the folder must be there
    /tmp/golden/bin/python tools/golden/exported_models.py check /tmp/tuned

    /tmp/golden/bin/python tools/golden/exported_models.py compile trainer/exported/testdata      # needs g++

`write`: for each model NAME.safetensors, which export_model.py made, and NAME_golden.safetensors: inputs of another batch
size than the exported one, outputs in both modes, gradients of sum(mean(output^2)), and the state after 20 updates of
AdamW. `check`: what C++ trained and exported (NAME_state.safetensors) must load with load_state_dict(strict=True) into
the original module, and compute there what it computed in C++ (NAME_outputs.safetensors). `compile`: compiled steps of two of them, for any x86-64
processor with AVX2: mlp.pt2 for batches of any size, mlp_of_7.pt2 for 7 records, and conv.pt2.
"""

import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "convert"))
from compile_step import compile_step  # noqa: E402
from export_model import export_model  # noqa: E402


class Mlp(nn.Module):
    """Also has a frozen parameter, constants, a buffer that is not saved, and a part without gradients."""

    def __init__(self, inputs=12, width=24, outputs=5):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, outputs)
        self.scale = nn.Parameter(torch.full((width,), 1.5), requires_grad=False)
        self.register_buffer("shift", torch.linspace(-1, 1, width), persistent=False)

    def forward(self, x):
        with torch.no_grad():
            size = x.norm(dim=1, keepdim=True) / torch.tensor([2.0])
        low, high = (torch.tanh(self.first(x)) * self.scale + self.shift).chunk(2, dim=1)
        outputs = self.second(torch.cat([low, F.gelu(high)], 1) / (1 + size))
        return outputs.view(x.shape[0] * outputs.shape[1]).view(outputs.shape)


class ConvNet(nn.Module):
    """Also counts its training passes in a buffer that it assigns to."""

    def __init__(self, channels=1, width=6, classes=4, side=12):
        super().__init__()
        self.stem = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.body = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1, bias=False)
        self.body_norm = nn.BatchNorm2d(2 * width)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(2 * width * (side // 4)**2, classes)
        self.register_buffer("passes", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        if self.training:
            self.passes = self.passes + 1
        x = F.relu_(self.norm(self.stem(x)))
        x = F.max_pool2d(F.relu(self.body_norm(self.body(x))), 2)
        return self.head(self.dropout(x).flatten(1))


class Block(nn.Module):

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width))

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1 if self.training else 0.0)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """Integers and a mask go in, a dict comes out; the embedding is also the head."""

    def __init__(self, words=32, width=16, heads=2, blocks=2, length=24):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens, padding=None):
        length = tokens.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
        if padding is not None:
            mask = mask & ~padding[:, None, None, :]
        x = self.words(tokens) + self.places(torch.arange(length, device=tokens.device))
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        return {"logits": self.head(x), "pooled": x.mean(1)}


def padding(batch, length):
    """The last word of every second row is none."""
    mask = torch.zeros(batch, length, dtype=torch.bool)
    mask[::2, -1] = True
    return mask


def models():
    """(name, module, example inputs, inputs of the test, dynamic dimensions)."""
    torch.manual_seed(1)
    return [
        ("mlp", Mlp(), (torch.randn(4, 12),), {"x": torch.randn(7, 12)}, {}),
        ("conv", ConvNet(), (torch.randn(4, 1, 12, 12),), {"x": torch.randn(6, 1, 12, 12)}, {}),
        ("transformer", Transformer(), (torch.randint(32, (4, 8)), padding(4, 8)),
         {"tokens": torch.randint(32, (3, 11)), "padding": padding(3, 11)}, {"tokens": [0, 1], "padding": [0, 1]}),
    ]


def outputs_of(module, inputs):
    """By name. transformers' outputs are dicts, too; what is None in them was not exported."""
    outputs = module(**inputs)
    if not isinstance(outputs, dict):
        return {"output": outputs}
    return {name: output for name, output in outputs.items() if isinstance(output, torch.Tensor)}


def loss_of(outputs):
    return sum(output.square().mean() for output in outputs.values() if output.is_floating_point())


def golden(module, inputs):
    tensors = {"input/" + name: tensor for name, tensor in inputs.items()}
    module.eval()
    with torch.no_grad():
        tensors.update({"eval/" + name: tensor for name, tensor in outputs_of(module, inputs).items()})
    module.train()
    optimizer = torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], lr=1e-2, fused=True)
    torch.manual_seed(2)
    for update in range(20):
        outputs = outputs_of(module, inputs)
        optimizer.zero_grad()
        loss_of(outputs).backward()
        if update == 0:
            tensors.update({"train/" + name: tensor.detach() for name, tensor in outputs.items()})
            tensors.update({"gradient/" + name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None})
            tensors.update({"buffer/" + name: buffer.clone() for name, buffer in module.named_buffers()})
        optimizer.step()
    tensors.update({"trained/" + name: p.detach() for name, p in module.named_parameters()})
    tensors.update({"trained/" + name: buffer for name, buffer in module.named_buffers()})
    return {name: tensor.clone().contiguous() for name, tensor in tensors.items()}


def write(folder):
    for name, module, example, inputs, dynamic in models():
        export_model(module, example, "%s/%s.safetensors" % (folder, name), dynamic)
        save_file(golden(module, inputs), "%s/%s_golden.safetensors" % (folder, name))


def compile_steps(folder):
    command = "python tools/golden/exported_models.py compile trainer/exported/testdata"
    torch.set_num_threads(1)
    steps = [("mlp", "mlp.pt2", "mse", True), ("mlp", "mlp_of_7.pt2", "mse", False), ("conv", "conv.pt2", "cross_entropy", False)]
    made = {name: (module, inputs) for name, module, _, inputs, _ in models()}
    for name, file, loss, any_batch in steps:
        compile_step(*made[name], None, loss, "%s/%s" % (folder, file), command, any_batch, "x86-64-v3")


def check(folder):
    for name, module, _, inputs, _ in models():
        module.load_state_dict(load_file("%s/%s_state.safetensors" % (folder, name)), strict=True)
        module.eval()
        with torch.no_grad():
            outputs = outputs_of(module, inputs)
        saved = load_file("%s/%s_outputs.safetensors" % (folder, name))
        assert saved.keys() == outputs.keys(), (saved.keys(), outputs.keys())
        for key, output in outputs.items():
            assert torch.equal(output, saved[key]), "%s of %s" % (key, name)
        print("%s: loaded with strict=True; %d outputs are the same to the bit" % (name, len(outputs)))


if __name__ == "__main__":
    {"write": write, "check": check, "compile": compile_steps}[sys.argv[1]](sys.argv[2])

#!/usr/bin/env python3
"""Adapters of Python's peft for finetuning/lora, and peft's word on ours.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 peft==0.21.2 safetensors numpy
    /tmp/golden/bin/python tools/golden/peft_adapters.py write finetuning/lora/testdata
    /tmp/golden/bin/python tools/golden/peft_adapters.py check finetuning/lora/testdata FOLDER

`write` makes a small model with an Embedding, a Conv2d and two Linear layers, adapts it with peft,
moves the adapters as training would, and writes what is needed to do the same elsewhere:
base.safetensors (the model's weights, an input and peft's outputs), and as peft saves them
adapter_model.safetensors and adapter_config.json.

`check` reads adapters from FOLDER with peft and compares what the model computes with them to the
outputs in base.safetensors; then merges and unmerges them. To see that peft reads what C++ writes:
the folder `written` in testdata is, byte for byte, what SaveAdapters writes (adapter_files_test).
"""

import pathlib
import sys

import peft
import safetensors.torch
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(7, 6)
        self.norm = torch.nn.LayerNorm(6)
        self.conv = torch.nn.Conv2d(1, 2, 3, padding=1)
        self.linear = torch.nn.Linear(12, 5)
        self.head = torch.nn.Linear(5, 2)

    def forward(self, tokens):
        image = self.norm(self.embedding(tokens)).unsqueeze(1)
        features = self.conv(image).transpose(1, 2).flatten(2)
        return self.head(self.linear(features).mean(1).relu())


def write(folder):
    torch.manual_seed(1)
    net = Net()
    base = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    config = peft.LoraConfig(
        r=3,
        lora_alpha=6,
        target_modules=["embedding", "conv", "linear"],
        modules_to_save=["head"],
    )
    adapted = peft.get_peft_model(net, config).eval()
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
        tokens = torch.randint(7, (3, 4))
        outputs = adapted(tokens)
    adapted.save_pretrained(folder)
    (folder / "README.md").unlink()
    safetensors.torch.save_file(
        {**base, "test.tokens": tokens, "test.outputs": outputs}, folder / "base.safetensors"
    )


def check(folder, adapters):
    base = safetensors.torch.load_file(folder / "base.safetensors")
    tokens, outputs = base.pop("test.tokens"), base.pop("test.outputs")
    net = Net()
    net.load_state_dict(base)
    adapted = peft.PeftModel.from_pretrained(net, adapters).eval()
    for do in (lambda: None, adapted.merge_adapter, adapted.unmerge_adapter):
        do()
        with torch.no_grad():
            difference = (adapted(tokens) - outputs).abs().max().item()
        print("largest difference:", difference)
        assert difference < 1e-5
    theirs = safetensors.torch.load_file(folder / "adapter_model.safetensors")
    ours = safetensors.torch.load_file(adapters / "adapter_model.safetensors")
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[name], ours[name]) for name in ours)
    print("the same", len(ours), "tensors, bit for bit")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))

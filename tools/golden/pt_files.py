"""Writes .pt files with torch.save, and what they contain as safetensors files, for the test that reads them in C++.

    pip install torch==2.13.0 safetensors==0.8.0 numpy     # in an environment of its own
    python tools/golden/pt_files.py trainer/checkpoint/pt/testdata
"""

import collections
import os
import pathlib
import sys

import torch
from safetensors.torch import save_file

TYPES = [
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64",
    "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
]  # fmt: skip


def random_bits(dtype, shape):
    count = torch.Size(shape).numel() * dtype.itemsize
    return torch.randint(0, 256, (count,), dtype=torch.uint8).view(dtype).reshape(shape)


def by_path(value, path=""):
    """The tensors of nested containers by their paths."""
    if isinstance(value, torch.Tensor):
        return {path: value.detach().contiguous().clone()}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return {name: tensor for key, inner in items for name, tensor in by_path(inner, f"{path}.{key}".lstrip(".")).items()}


class Writer:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def save(self, name, value, expected=None, **options):
        torch.save(value, self.folder / f"{name}.pt", **options)
        if expected is not None:
            save_file(by_path(expected), self.folder / f"{name}.safetensors")


class RunsACommand:
    def __reduce__(self):
        return (os.system, ("touch /tmp/pt-file-was-executed",))


def types():
    tensors = {name: random_bits(getattr(torch, name), (2, 3)) for name in TYPES}
    tensors["bool"] = torch.tensor([True, False, True])
    tensors["scalar"] = random_bits(torch.float32, ())
    tensors["nothing"] = torch.empty((3, 0, 2))
    tensors["name ä€🚂"] = random_bits(torch.int16, (1, 2, 3))
    return tensors


def views():
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    tied = torch.randn(3, 2)
    return collections.OrderedDict(
        whole=base,
        transposed=base.t(),
        slice=base[1:3, 2:5],
        every_second=base[::2, ::3],
        row=base[3],
        element=base[2, 5],
        expanded=base[0, :1].expand(2, 5),
        channels_last=torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        tied=tied,
        tied_too=tied,
        tied_transposed=tied.t(),
        parameter=torch.nn.Parameter(torch.randn(2)),
    )


def network():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3))


def trained():
    """A network after two updates, and its optimizer."""
    net = network()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.randn(5, 1, 4, 4)).square().mean().backward()
        optimizer.step()
    return net, optimizer


def main():
    torch.manual_seed(1)
    writer = Writer(sys.argv[1])
    writer.folder.mkdir(parents=True, exist_ok=True)
    tensors = types()
    writer.save("types", tensors, tensors)
    tensors = views()
    writer.save("views", tensors, tensors)
    net, optimizer = trained()
    writer.save("model", net.state_dict(), net.state_dict())
    writer.save("protocol4", net.state_dict(), net.state_dict(), pickle_protocol=4)
    checkpoint = {
        "model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "best": 0.25, "name": "net", "done": False,
        "note": None, "seen": 2**40, "least": -70000, "sizes": torch.Size([2, 3]),
    }  # fmt: skip
    writer.save("checkpoint", checkpoint, checkpoint)
    small = {"net.body": torch.arange(8.0).reshape(2, 4).t(), "net.head": torch.ones(3, 4), "net.mean": torch.full((4,), 2.0)}
    writer.save("warm_start", {"state_dict": small, "epoch": 1})
    torch.serialization.set_crc32_options(False)
    writer.save("no_crc32", net.state_dict(), net.state_dict())
    torch.serialization.set_crc32_options(True)
    # Refused.
    writer.save("runs_a_command", {"w": torch.ones(2), "x": RunsACommand()})
    writer.save("whole_module", torch.nn.Linear(1, 1))
    writer.save("sparse", {"w": torch.eye(2).to_sparse()})
    writer.save("conjugate", {"w": torch.ones(2, dtype=torch.complex64).conj()})
    writer.save("legacy", {"w": torch.ones(2)}, _use_new_zipfile_serialization=False)
    torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), writer.folder / "script.pt")


main()

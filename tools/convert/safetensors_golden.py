"""Writes the safetensors files that C++ tests read, with Python's own library.

    pip install safetensors==0.8.0 numpy torch==2.13.0     # in an environment of its own
    python tools/convert/safetensors_golden.py trainer/checkpoint/safetensors/testdata

Every tensor's bytes follow one rule, byte i being (7 i + 3) mod 256, so that a test needs
no second copy of them.
"""

import os
import sys

import numpy
import torch
from safetensors.torch import save_file

TYPES = [
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64",
    "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float4_e2m1fn_x2",
]  # fmt: skip


def by_rule(dtype, shape):
    count = int(numpy.prod(shape)) * dtype.itemsize
    values = numpy.array([(7 * i + 3) % 256 for i in range(count)], dtype=numpy.uint8)
    return torch.from_numpy(values).view(dtype).reshape(shape)


def main():
    (folder,) = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    tensors = {name: by_rule(getattr(torch, name), (2, 64)) for name in TYPES}
    tensors["bool"] = torch.tensor([True, False, True])
    tensors["scalar"] = by_rule(torch.float32, ())
    tensors["nothing"] = torch.empty((3, 0, 2))
    tensors['name "with"\n\\ ä€🚂\x01'] = by_rule(torch.int16, (1, 2, 3))
    save_file(tensors, os.path.join(folder, "types.safetensors"), {"format": "pt"})
    save_file({}, os.path.join(folder, "empty.safetensors"))


main()

#!/usr/bin/env python3
"""Writes schedulers/golden/*.txt: the values of every schedule as Python computes them.

    python3 -m venv /tmp/golden
    /tmp/golden/bin/pip install torch==2.13.0 numpy transformers==5.22.2
    /tmp/golden/bin/pip install --no-deps timm==1.0.30
    /tmp/golden/bin/python tools/golden/schedules.py

Settings have the names of the C++ options, and the tests build their options from them, so that
the two cannot differ.
"""

import os
import warnings
from importlib import metadata

import composed_cases as composed
import decay_cases as decay
import golden_text
import wave_cases as wave

_FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "schedulers", "golden")
_VERSIONS = {"torch": "2.13.0", "timm": "1.0.30", "transformers": "5.22.2"}

# File -> (the function that gives its cases, the package that computed them).
_FILES = {
    "chained": (composed.chained, "torch"),
    "constant": (decay.constant, "torch"),
    "cosine": (wave.cosine, "timm"),
    "cosine_annealing": (wave.cosine_annealing, "torch"),
    "cyclic": (wave.cyclic, "torch"),
    "exponential": (decay.exponential, "torch"),
    "inverse_sqrt": (decay.inverse_sqrt, "transformers"),
    "lambda": (composed.lambda_, "torch"),
    "linear": (decay.linear, "torch"),
    "multi_step": (decay.multi_step, "torch"),
    "noam": (decay.noam, "torch"),
    "one_cycle": (wave.one_cycle, "torch"),
    "one_cycle_momentum": (wave.one_cycle_momentum, "torch"),
    "plateau": (composed.plateau, "torch"),
    "polynomial": (decay.polynomial, "torch, timm"),
    "sequential": (composed.sequential, "torch"),
    "step": (decay.step, "torch"),
    "warm_restarts": (wave.warm_restarts, "torch"),
    "warmup": (composed.warmup, "timm"),
    "warmup_stable_decay": (decay.warmup_stable_decay, "transformers"),
}


def main():
    warnings.filterwarnings("ignore")  # torch dislikes some orders of calls that are meant here
    for package, version in _VERSIONS.items():
        found = metadata.version(package).partition("+")[0]
        if found != version:
            raise SystemExit(f"{package} is {found}, want {version}: see this file's first lines")
    total = 0
    for name, (cases, packages) in _FILES.items():
        print(name)
        path = os.path.join(_FOLDER, name + ".txt")
        source = " and ".join(f"{package} {_VERSIONS[package]}" for package in packages.split(", "))
        golden_text.write(path, source, cases())
        total += os.path.getsize(path)
    print(f"{len(_FILES)} files, {total} bytes")


if __name__ == "__main__":
    main()

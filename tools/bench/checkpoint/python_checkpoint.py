"""How long training waits for a checkpoint of Python's libraries, and when it is saved: the state of save_and_load.cc.

    python3 python_checkpoint.py torch_save|safetensors|dcp|dcp_async|orbax MEBIBYTES

Needs PyPI's torch, safetensors or orbax-checkpoint. Prints a line for //tools/bench:peers. None of them waits for the disk:
this program does it after them, as save_and_load.cc does for torch::save.
"""

import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

_TENSORS = 48
_SAVES = 5


def _names(mebibytes):
    """The names of the state, and the elements of each."""
    kinds = ["", "/exp_avg", "/exp_avg_sq"]
    return [f"layer{i:02d}.weight{kind}" for i in range(_TENSORS) for kind in kinds], mebibytes * 2**20 // 4 // 3 // _TENSORS


def _torch_state(mebibytes):
    import torch

    torch.manual_seed(1)
    names, elements = _names(mebibytes)
    return {name: torch.rand(elements) for name in names}


def torch_save(mebibytes, folder):
    import torch

    state = _torch_state(mebibytes)
    return lambda i: torch.save(state, folder / f"{i}.pt"), lambda: None


def safetensors(mebibytes, folder):
    from safetensors.torch import save_file

    state = _torch_state(mebibytes)
    return lambda i: save_file(state, folder / f"{i}.safetensors"), lambda: None


def dcp(mebibytes, folder):
    import torch.distributed.checkpoint as checkpoint

    state = _torch_state(mebibytes)
    return lambda i: checkpoint.save(state, checkpoint_id=folder / str(i), no_dist=True), lambda: None


def dcp_async(mebibytes, folder):
    import torch.distributed.checkpoint as checkpoint

    state, futures = _torch_state(mebibytes), []
    return (lambda i: futures.append(checkpoint.async_save(state, checkpoint_id=folder / str(i), no_dist=True)),
            lambda: futures.pop().result())


def orbax(mebibytes, folder):
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import orbax.checkpoint as checkpoint

    names, elements = _names(mebibytes)
    keys = jax.random.split(jax.random.key(1), len(names))
    state = {name.replace("/", "."): jax.random.uniform(key, (elements,)) for name, key in zip(names, keys)}
    jax.block_until_ready(state)
    saver = checkpoint.AsyncCheckpointer(checkpoint.StandardCheckpointHandler())
    return lambda i: saver.save(folder / str(i), args=checkpoint.args.StandardSave(state)), saver.wait_until_finished


WAYS = {way.__name__: way for way in (torch_save, safetensors, dcp, dcp_async, orbax)}


def _to_disk(folder):
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())


def _remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def main():
    way, mebibytes = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        save, wait = WAYS[way](mebibytes, folder)
        blocked, saved = [], []
        for i in range(_SAVES + 1):
            os.sync()
            begin = time.perf_counter()
            save(i)
            middle = time.perf_counter()
            wait()
            _to_disk(folder)
            if i > 0:  # the first one allocates
                blocked.append(1e3 * (middle - begin))
                saved.append(1e3 * (time.perf_counter() - begin))
            for path in folder.iterdir():
                _remove(path)
    print("@@" + json.dumps({"blocked_ms": statistics.median(blocked), "saved_ms": statistics.median(saved)}))


if __name__ == "__main__":
    main()

"""The Python counterpart of ddp_step.cc: one rank; tools/bench/ddp.py starts it.

    ddp_step.py ddp|zero1|zero2|fsdp --layers=N --width=N --batch=N
"""

import argparse
import json
import sys
import time

import torch
import torch.distributed
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer


def make_network(flags):
    layers = [torch.nn.Linear(784, flags.width), torch.nn.ReLU()]
    for _ in range(flags.layers):
        layers += [torch.nn.Linear(flags.width, flags.width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(flags.width, 10))


def prepare(form, model):
    """The model to call, and its optimizer."""
    adamw = {"lr": 1e-3, "fused": True}
    if form in ("ddp", "zero1"):
        parallel = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
        if form == "ddp":
            return parallel, torch.optim.AdamW(model.parameters(), **adamw)
        return parallel, ZeroRedundancyOptimizer(
            model.parameters(), optimizer_class=torch.optim.AdamW, parameters_as_bucket_view=True, **adamw)
    mesh = torch.distributed.init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    keep = form == "zero2"
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer, mesh=mesh, reshard_after_forward=not keep)
    fully_shard(model, mesh=mesh, reshard_after_forward=not keep)
    return model, torch.optim.AdamW(model.parameters(), **adamw)


def local(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def bytes_of(tensors):
    return sum(local(tensor).nbytes for tensor in tensors)


def memory(model, optimizer):
    parameters = list(model.parameters())
    states = getattr(optimizer, "optim", optimizer).state.values()
    return {
        "parameters": bytes_of(parameters),
        "gradients": bytes_of(p.grad for p in parameters if p.grad is not None),
        "state": bytes_of(value for state in states for value in state.values() if torch.is_tensor(value)),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("form")
    for name in ("layers", "width", "batch"):
        parser.add_argument("--" + name, type=int, required=True)
    flags = parser.parse_args()
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    model, optimizer = prepare(flags.form, make_network(flags))
    inputs = torch.randn(flags.batch, 784)
    targets = torch.randint(10, (flags.batch,))
    for line in sys.stdin:
        if line.strip() == "memory":
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
            print(json.dumps(memory(model, optimizer)), flush=True)
            continue
        steps = int(line)
        torch.distributed.barrier()
        start = time.perf_counter()
        for _ in range(steps):
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        print("%.4f" % ((time.perf_counter() - start) * 1000 / steps), flush=True)
    torch.distributed.destroy_process_group()


main()

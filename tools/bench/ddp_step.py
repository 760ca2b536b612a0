"""The Python counterpart of ddp_step.cc: one rank; tools/bench/ddp.py starts it.

Its argument selects the implementation of AdamW: "default" or "fused".
"""

import sys
import time

import torch
import torch.distributed


def main():
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 1024), torch.nn.ReLU(),
        torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
    parallel = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    options = {"fused": True} if sys.argv[1] == "fused" else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **options)
    inputs = torch.randn(128, 784)
    targets = torch.randint(10, (128,))
    for line in sys.stdin:
        steps = int(line)
        torch.distributed.barrier()
        start = time.perf_counter()
        for _ in range(steps):
            torch.nn.functional.cross_entropy(parallel(inputs), targets).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        print("%.4f" % ((time.perf_counter() - start) * 1000 / steps), flush=True)
    torch.distributed.destroy_process_group()


main()

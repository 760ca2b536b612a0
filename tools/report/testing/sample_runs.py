"""Run folders to show, as callbacks/recording:track writes them."""
import json
import math
import os
import random

HOOKS = """| event | callback | priority |
| --- | --- | --- |
| OnStepEnd | ProgressBar | -100 |
| OnEpochEnd | Track | 100 |
"""


def write_run(folder, updates=2000, seed=1, every=10, finished=True, lr=0.003, name="conv", ema=False):
    """A run of 5 epochs with reports, evaluations (of averages, too) and epochs' ends."""
    rng = random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    start = 1.79e9
    per_epoch = max(1, updates // 5)
    with open(f"{folder}/metrics.jsonl", "w") as file:
        row = lambda step, **values: file.write(json.dumps({"step": step, "time": start + step * 0.05, **values}) + "\n")
        for step in range(1, updates + 1):
            loss = 2.3 * math.exp(-4 * step / updates) + 0.25 + rng.gauss(0, 0.05)
            if step % every == 0 or step == updates:
                row(step, train_loss=loss, train_accuracy=1 - loss / 3, lr=lr * math.cos(step / updates * math.pi / 2),
                    epoch=1 + step // per_epoch, samples=step * 128, samples_per_second=2560 + rng.gauss(0, 60))
            if step % per_epoch == 0:
                row(step, eval_loss=loss + 0.05, eval_accuracy=0.92 - loss / 5)
                if ema:
                    row(step, ema_eval_loss=loss * 0.9, ema_eval_accuracy=0.93 - loss / 5)
                row(step, **{"epoch/seconds": per_epoch * 0.05, "epoch/eval_seconds": per_epoch * 0.008,
                             "epoch/data_wait": 0.06, "epoch/train_loss": loss})
    with open(f"{folder}/run.json", "w") as file:
        json.dump({"started": start, "resumed_at": 0, "command": f"fashion_mnist --lr={lr} --run_dir={folder}",
                   "config": {"model": name, "backend": "sp", "seed": str(seed), "total_batch_size": "128"},
                   "environment": {"host": "yard", "processors": "2", "compiler": "12.2.0"}, "hooks": HOOKS}, file)
    if finished:
        with open(f"{folder}/summary.json", "w") as file:
            json.dump({"epochs": 5, "updates": updates, "samples": updates * 128, "eval_accuracy": 0.9134 - seed / 1000,
                       "train_loss": 0.2513, "seconds": 78.25, "samples_per_second": 2560.123456}, file)
    for step in (per_epoch, 2 * per_epoch):
        os.makedirs(f"{folder}/checkpoints/step-{step}", exist_ok=True)
        with open(f"{folder}/checkpoints/step-{step}/model.safetensors", "wb") as file:
            file.write(bytes(1_200_000))


def write_long_run(folder, points):
    """One number per update, with one spike in the middle."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/metrics.jsonl", "w") as file:
        for step in range(1, points + 1):
            value = 99.0 if step == points // 2 and points > 1 else 1 + math.sin(step / points * 20)
            file.write(f'{{"step":{step},"time":{1.79e9 + step / 1000:.3f},"train_loss":{value:.6f}}}\n')

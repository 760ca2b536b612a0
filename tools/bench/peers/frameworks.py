"""What the comparison runs: rows, frameworks and the command of each run."""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements"
OLDER_REQUIREMENTS = HERE / "older_requirements"  # for a Python older than 3.11
STEPS = {"tiny": 1000, "mlp": 80, "transformer": 30, "conv": 80}
_TRAINED = {
    "tiny": "tiny MLP 32-64-64-10, batch 32",
    "mlp": "MLP 784-1024-1024-10, batch 128",
    "transformer": "transformer of 4 layers, width 128, 16 texts of 64 tokens",
    "conv": "convolution net on Fashion-MNIST, batch 128",
}


@dataclasses.dataclass(frozen=True)
class Kind:
    """What is measured in a row."""

    # (title, field): each has a second column, of ratios; the first one is in the chart, with this unit.
    columns: tuple[tuple[str, str], ...]
    unit: str
    # (title, field, decimal places): without a ratio.
    facts: tuple[tuple[str, str, int], ...] = ()

    @property
    def fields(self) -> list[str]:
        """What the program's result must have; the rest is measured from outside."""
        return [column[1] for column in (*self.columns, *self.facts) if column[1] != "peak_mb"]


_MEMORY = ("peak memory, MB", "peak_mb")
KINDS = {
    "step": Kind((("time of a step, ms", "p50_ms"), ("start-up to the first step, s", "startup_s"), _MEMORY), "ms per step",
                 (("final loss", "final_loss", 3),)),
    "accuracy": Kind((("from the start of the process, s", "seconds"), _MEMORY), "s",
                     (("epochs", "epochs", 0), ("accuracy", "accuracy", 4))),
    "loading": Kind((("time of an image, us", "us_per_image"), _MEMORY), "us per image"),
    "checkpoint": Kind((("training waits, ms", "blocked_ms"), ("until it is on the disk, ms", "saved_ms")), "ms that training waits",
                       ((*_MEMORY, 0),)),
}


@dataclasses.dataclass(frozen=True)
class Row:
    key: str
    kind: str
    title: str
    short: str
    workload: str = ""
    ranks: int = 1
    threads: int = 1  # of each rank


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count > 1 else "")


def _step_row(workload: str, ranks: int, threads: int) -> Row:
    key = (f"ddp{ranks}_" if ranks > 1 else "") + workload + (f"_{threads}t" if threads > 1 else "")
    how = _plural(threads, "thread")
    if ranks > 1:
        how = f"data-parallel on {ranks} ranks, {how} and a batch each"
    short = workload + (f", {ranks} ranks" if ranks > 1 else f", {how}")
    return Row(key, "step", f"{_TRAINED[workload]}; {how}", short, workload, ranks, threads)


_OTHER_ROWS = {
    "loader": Row("loader", "loading", "loader: images in memory; 28 x 28, shuffled, normalised, batch 128", "images in memory"),
    "jpeg": Row("jpeg", "loading", "loader: JPEG files; 256 x 256, shuffled, decoded, normalised, batch 32", "JPEG files"),
    "checkpoint": Row("checkpoint", "checkpoint", "checkpoint; weights and AdamW's state", "checkpoint", threads=2),
    "accuracy": Row("accuracy", "accuracy", "time to 91 % on Fashion-MNIST; the convolution net, 2 threads", "time to 91 %", "conv", threads=2),
}
# What --rows selects.
ROWS = [*_TRAINED, *(f"ddp_{workload}" for workload in ("tiny", "mlp")), *_OTHER_ROWS]


def make_rows(names: list[str], threads: list[int], ranks: int) -> list[Row]:
    """Data-parallel rows have one thread per rank, whatever `threads` says."""
    rows = []
    for name in names:
        if name in _OTHER_ROWS:
            rows.append(_OTHER_ROWS[name])
        elif name.startswith("ddp_"):
            rows.append(_step_row(name.removeprefix("ddp_"), ranks, 1))
        else:
            rows += [_step_row(name, 1, count) for count in threads]
    return rows


def place(row: Row) -> tuple:
    """For sorting rows as ROWS has them."""
    name = row.key if row.key in _OTHER_ROWS else ("ddp_" if row.ranks > 1 else "") + row.workload
    return ROWS.index(name), row.ranks, row.threads


@dataclasses.dataclass(frozen=True)
class Framework:
    key: str
    title: str
    short: str  # in the chart
    requirements: str = ""  # file of requirements/, whose first line is the framework; empty: written in C++
    # The rows, or kinds of rows, for which it has a program.
    rows: tuple[str, ...] = ("step", "accuracy")
    not_parallel: str = ""  # why it has no data-parallel row
    older_python: bool = False  # needs a Python older than 3.11

    @property
    def name(self) -> str:
        """As in the tables: with the version."""
        if "VERSION" not in self.title:
            return self.title
        folder = OLDER_REQUIREMENTS if self.older_python else REQUIREMENTS
        first = (folder / f"{self.requirements}.txt").read_text(encoding="utf-8").splitlines()[0]
        return self.title.replace("VERSION", first.partition("==")[2])

    def takes(self, row: Row) -> bool:
        return row.key in self.rows or row.kind in self.rows


_NO_DDP_IN_CPP = "libtorch has no DistributedDataParallel for C++"
FRAMEWORKS = [
    Framework("trainyard", "Trainyard", "Trainyard", rows=("step", "accuracy", "loading", "checkpoint")),
    Framework("trainyard_compiled", "Trainyard, compiled step", "Trainyard, compiled", "torch", ("step",)),
    Framework("trainyard_0", "Trainyard, no workers", "Trainyard, no workers", rows=("jpeg",)),
    Framework("cpp_fastest", "C++, fastest hand-written loop", "C++, fastest", not_parallel=_NO_DDP_IN_CPP),
    Framework("cpp_libtorch", "C++, loop of libtorch's own parts", "C++, libtorch's parts", not_parallel=_NO_DDP_IN_CPP),
    Framework("torch_fastest", "torch VERSION, fastest bare loop", "torch, fastest", "torch"),
    Framework("torch_fused", "torch VERSION, bare loop, fused AdamW", "torch, fused", "torch"),
    Framework("torch_loop", "torch VERSION, bare loop", "torch", "torch"),
    Framework("pytorch_accelerated", "pytorch-accelerated VERSION", "pytorch-accelerated", "pytorch_accelerated"),
    Framework("lightning", "Lightning VERSION", "Lightning", "lightning"),
    Framework("accelerate", "accelerate VERSION", "accelerate", "accelerate"),
    Framework("transformers", "transformers Trainer VERSION", "transformers Trainer", "transformers"),
    Framework("ignite", "ignite VERSION", "ignite", "ignite"),
    Framework("trainer_tools", "trainer_tools VERSION", "trainer_tools", "trainer_tools"),
    Framework("pymarlin", "PyMarlin VERSION", "PyMarlin", "pymarlin", older_python=True),
    Framework("composer", "Composer VERSION", "Composer", "composer"),
    Framework("determined", "Determined VERSION, local", "Determined", "determined"),
    Framework("jax", "JAX VERSION, jitted step", "JAX", "jax"),
    Framework("libtorch_0", "torch::data (C++), no workers", "torch::data, 0 workers", rows=("loader",)),
    Framework("libtorch_2", "torch::data (C++), 2 workers", "torch::data, 2 workers", rows=("loader",)),
    Framework("dataloader_0", "DataLoader of torch VERSION, no workers", "DataLoader, 0 workers", "torch", ("loader",)),
    Framework("dataloader_2", "DataLoader of torch VERSION, 2 workers", "DataLoader, 2 workers", "torch", ("loader",)),
    Framework("pillow_0", "Pillow VERSION and torch's DataLoader, no workers", "Pillow, 0 workers", "pillow", ("jpeg",)),
    Framework("pillow_2", "Pillow VERSION and torch's DataLoader, 2 workers", "Pillow, 2 workers", "pillow", ("jpeg",)),
    Framework("torch::save", "torch::save (C++)", "torch::save", rows=("checkpoint",)),
    Framework("torch_save", "torch.save, VERSION", "torch.save", "torch", ("checkpoint",)),
    Framework("safetensors", "safetensors VERSION", "safetensors", "safetensors", ("checkpoint",)),
    Framework("dcp", "torch VERSION, DCP", "DCP", "torch", ("checkpoint",)),
    Framework("dcp_async", "torch VERSION, DCP, async_save", "DCP, async", "torch", ("checkpoint",)),
    Framework("orbax", "orbax VERSION, background", "orbax", "orbax", ("checkpoint",)),
]


@dataclasses.dataclass(frozen=True)
class Programs:
    trainyard: str
    cpp: str
    loader: str
    checkpoint: str
    python: str = ""
    older_python: str = ""
    compiled: str = ""  # folder of compiled steps
    jpegs: str = ""  # folder of images
    mebibytes: int = 512  # of a checkpoint


def compiled_name(row: Row) -> str:
    """Of the folder of its compiled step."""
    return f"{row.workload}_{row.threads}t"


def command(framework: Framework, row: Row, steps: dict[str, int], programs: Programs) -> list[str]:
    """`steps`: of each workload."""
    python = programs.older_python if framework.older_python else programs.python
    if row.kind == "loading":
        if framework.requirements:
            source = programs.jpegs if row.key == "jpeg" else ""
            return [python, str(HERE.parent / "loader/python_loader.py"), framework.key[-1], source]
        if row.key == "jpeg":
            workers = 0 if framework.key.endswith("_0") else 2
            return [programs.loader, f"--only=jpeg{workers}", "--json", f"--jpegs={programs.jpegs}"]
        return [programs.loader, f"--only={framework.key.replace('_', '')}", "--json"]
    if row.kind == "checkpoint":
        if framework.requirements:
            return [python, str(HERE.parent / "checkpoint/python_checkpoint.py"), framework.key, str(programs.mebibytes)]
        return [programs.checkpoint, f"--json={framework.key}", f"--mebibytes={programs.mebibytes}", "--dir=checkpoints"]
    count = 0 if row.kind == "accuracy" else steps[row.workload]
    work = [f"--workload={row.workload}", f"--steps={count}", f"--threads={row.threads}"]
    if framework.key.startswith("trainyard"):
        step = f"{programs.compiled}/{compiled_name(row)}/net" if framework.key == "trainyard_compiled" else ""
        return [programs.trainyard, *work, f"--backend={'ddp' if row.ranks > 1 else 'sp'}", f"--compiled={step}"]
    if framework.key.startswith("cpp_"):
        return [programs.cpp, *work, f"--loop={framework.key.removeprefix('cpp_')}"]
    values = [row.workload, str(count), str(row.threads)]
    if framework.key == "jax":
        return [python, str(HERE / "jax_train.py"), *values]
    return [python, str(HERE / "python_train.py"), framework.key, *values]

"""What the comparison runs: rows, frameworks and the command of each run."""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements"
STEPS = {"tiny": 2000, "mlp": 200, "transformer": 60}
WORKLOADS = {
    "tiny": "tiny MLP 32-64-64-10, batch 32",
    "mlp": "MLP 784-1024-1024-10, batch 128",
    "transformer": "transformer of 4 layers, width 128, 16 texts of 64 tokens",
}


@dataclasses.dataclass(frozen=True)
class Row:
    workload: str
    ranks: int
    threads: int  # of each rank

    @property
    def key(self) -> str:
        kind = f"ddp{self.ranks}_" if self.ranks > 1 else ""
        return f"{kind}{self.workload}" + (f"_{self.threads}t" if self.threads > 1 else "")

    @property
    def title(self) -> str:
        how = f"{self.threads} thread" + ("s" if self.threads > 1 else "")
        if self.ranks > 1:
            how = f"data-parallel on {self.ranks} ranks of one machine, {how} and a batch each"
        return f"{WORKLOADS[self.workload]}; {how}"


# What --rows selects: (workload, data-parallel).
ROWS = {
    "tiny": ("tiny", False),
    "mlp": ("mlp", False),
    "transformer": ("transformer", False),
    "ddp_tiny": ("tiny", True),
    "ddp_mlp": ("mlp", True),
}


def make_rows(names: list[str], threads: list[int], ranks: int) -> list[Row]:
    """Data-parallel rows have one thread per rank, whatever `threads` says."""
    rows = []
    for name in names:
        workload, parallel = ROWS[name]
        rows += [Row(workload, ranks, 1)] if parallel else [Row(workload, 1, count) for count in threads]
    return rows


@dataclasses.dataclass(frozen=True)
class Framework:
    key: str
    title: str
    requirements: str = ""  # file of requirements/, whose first line is the framework; empty: written in C++
    not_parallel: str = ""  # why it has no data-parallel row

    @property
    def name(self) -> str:
        """As in the tables: with the version."""
        if not self.requirements:
            return self.title
        first = (REQUIREMENTS / f"{self.requirements}.txt").read_text(encoding="utf-8").splitlines()[0]
        return self.title.replace("VERSION", first.partition("==")[2])


_NO_DDP_IN_CPP = "libtorch has no DistributedDataParallel for C++"
_PARALLEL_LEFT_OUT = "its data-parallel form is not written yet"
FRAMEWORKS = [
    Framework("trainyard", "Trainyard"),
    Framework("cpp_fastest", "C++, fastest hand-written loop", not_parallel=_NO_DDP_IN_CPP),
    Framework("cpp_libtorch", "C++, loop of libtorch's own parts", not_parallel=_NO_DDP_IN_CPP),
    Framework("torch_fused", "torch VERSION, bare loop, fused AdamW", "torch"),
    Framework("torch_loop", "torch VERSION, bare loop", "torch"),
    Framework("pytorch_accelerated", "pytorch-accelerated VERSION", "pytorch_accelerated"),
    Framework("lightning", "Lightning VERSION", "lightning"),
    Framework("accelerate", "accelerate VERSION", "accelerate"),
    Framework("transformers", "transformers Trainer VERSION", "transformers"),
    Framework("ignite", "ignite VERSION", "ignite"),
    Framework("trainer_tools", "trainer_tools VERSION", "trainer_tools", _PARALLEL_LEFT_OUT),
    Framework("pymarlin", "PyMarlin VERSION", "pymarlin", _PARALLEL_LEFT_OUT),
    Framework("composer", "Composer VERSION", "composer"),
    Framework("determined", "Determined VERSION, local", "determined"),
    Framework("jax", "JAX VERSION, jitted step, optax", "jax", _PARALLEL_LEFT_OUT),
]


def command(framework: Framework, row: Row, steps: int, programs: dict[str, str]) -> list[str]:
    """`programs`: paths of "trainyard", "cpp" and "python"."""
    work = [f"--workload={row.workload}", f"--steps={steps}", f"--threads={row.threads}"]
    if framework.key == "trainyard":
        return [programs["trainyard"], *work, f"--backend={'ddp' if row.ranks > 1 else 'sp'}"]
    if framework.key.startswith("cpp_"):
        return [programs["cpp"], *work, f"--loop={framework.key.removeprefix('cpp_')}"]
    values = [row.workload, str(steps), str(row.threads)]
    if framework.key == "jax":
        return [programs["python"], str(HERE / "jax_train.py"), *values]
    return [programs["python"], str(HERE / "python_train.py"), framework.key, *values]

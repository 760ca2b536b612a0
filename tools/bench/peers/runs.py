"""Runs the ranks of one program and returns its result, with peak memory and what else the machine did."""

import os
import signal
import socket
import subprocess
import tempfile
import time

import figures

# The environment of a rank must not come from the program that started this one.
_REMOVED = ("GROUP_RANK", "GROUP_WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "PYTHONPATH", "RANK", "WORLD_SIZE")


class RunError(Exception):
    """Why a program has no result."""


def run(command: list[str], ranks: int, threads: int, variables: dict[str, str], fields: list[str], timeout: float = 900) -> dict:
    """Starts `command` once per rank and waits for all. `fields`: of its result. Throws RunError."""
    with tempfile.TemporaryDirectory() as folder:  # some programs write to where they run
        return _run(command, ranks, threads, variables, fields, timeout, folder)


def _run(command, ranks, threads, variables, fields, timeout, folder):
    base = {name: value for name, value in os.environ.items() if name not in _REMOVED}
    base |= {
        "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), "ACCELERATE_USE_CPU": "true",
        "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", "TOKENIZERS_PARALLELISM": "false"}
    port = _free_port() if ranks > 1 else 0
    busy, begin = _busy_seconds(), time.time()
    processes, outputs = [], []
    try:
        for rank in range(ranks):
            group = {} if ranks == 1 else {
                "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
                "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1", "NODE_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            outputs.append(tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace"))
            processes.append(subprocess.Popen(
                command, env=base | group | variables | {"BENCH_LAUNCH": repr(time.time())}, cwd=folder, stdin=subprocess.DEVNULL,
                stdout=outputs[-1], stderr=subprocess.STDOUT, start_new_session=True))
        failed, usages = _wait(processes, begin + timeout)
        texts = [_read(output) for output in outputs]
    except OSError as error:
        raise RunError(f"{command[0]} does not start: {error.strerror}") from None
    finally:
        _kill(processes)
        for output in outputs:
            output.close()
    if failed == "timeout":
        raise RunError(f"it ran for more than {timeout:.0f} s")
    if failed is not None:
        raise RunError(f"rank {failed} failed: {figures.reason(texts[failed])}")
    try:
        result = figures.parse_result(texts[0], fields)
    except ValueError as error:
        raise RunError(str(error)) from None
    own = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    other = (_busy_seconds() - busy - own) / (time.time() - begin)
    return result | {"peak_mb": max(usage.ru_maxrss for usage in usages) / 1024, "other_cores": max(0.0, other)}


def _wait(processes, end):
    """(None, the first rank that failed, or "timeout"; resource usage of the processes)."""
    running, usages = dict(enumerate(processes)), []
    while running:
        for rank, process in list(running.items()):
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                continue
            process.returncode = os.waitstatus_to_exitcode(status)
            usages.append(usage)
            del running[rank]
            if process.returncode != 0:
                return rank, usages
        if time.time() > end:
            return "timeout", usages
        time.sleep(0.02)
    return None, usages


def _kill(processes):
    for process in processes:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)  # the session that run() has started
            process.wait()


def _read(file) -> str:
    file.seek(0)
    return file.read()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _busy_seconds() -> float:
    """Processor time of all programs of the machine so far."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(value) for value in file.readline().split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")

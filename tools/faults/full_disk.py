#!/usr/bin/env python3
"""Saves to disks that are full, limited, read-only or failing: old checkpoints must stay valid, and the error must name the cause.

    python3 tools/faults/full_disk.py           (as root: also with file systems of its own)

Each case starts from a folder with checkpoints of steps 1 and 2 and saves more: once by a program
that ends at the first error, once by one that continues without saving. Exit code 1 if a case fails.
"""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

import program

# A checkpoint is four tensors of so many floats: about 1.6 MB.
ELEMENTS = 100_000
CHECKPOINT_BYTES = 4 * 4 * ELEMENTS


def limit_file_size() -> None:
    # Without this the kernel ends the process; with it the call fails.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (CHECKPOINT_BYTES // 2, CHECKPOINT_BYTES // 2))


class Cases:
    def __init__(self, trained: program.Program):
        self.trained = trained
        self.total = self.bad = 0

    def check(self, name: str, seed: pathlib.Path, run_dir: pathlib.Path, code: str, prefix=(), preexec=None) -> None:
        """`code` is what the error must contain. The folder is a copy of the seed, or already one."""
        for goes_on in (False, True):
            if not run_dir.is_mount() and not (run_dir / "KEEP").exists():
                shutil.rmtree(run_dir, ignore_errors=True)
                shutil.copytree(seed, run_dir)
            argv = [*prefix, str(program.SAVE_LOOP), f"--run_dir={run_dir}", f"--elements={ELEMENTS}", "--steps=4"]
            done = subprocess.run(argv + (["--go_on"] if goes_on else []), capture_output=True, text=True,
                                  preexec_fn=preexec)
            sound, steps, said = program.verify(run_dir)
            message = next((line for line in (done.stdout + done.stderr).splitlines() if code in line), "")
            passed = (sound and 2 in steps and bool(message) and not program.half_done(run_dir)
                      and (done.returncode == 0 and "state_crc32c" in done.stdout if goes_on
                           else done.returncode == 1))
            self.total += 1
            self.bad += not passed
            what = "continues" if goes_on else "ends"
            print(f"{'ok ' if passed else 'BAD'} {name}, {what}: {message or done.stderr or said}", flush=True)


def main() -> int:
    options = program.arguments(__doc__).parse_args()
    trained = program.Program(options)
    cases = Cases(trained)
    seed = trained.fresh("seed")
    subprocess.run([program.SAVE_LOOP, f"--run_dir={seed}", f"--elements={ELEMENTS}", "--steps=2"],
                   check=True, capture_output=True)
    run_dir = trained.work / "run"

    cases.check("a limit on file sizes", seed, run_dir, "File too large", preexec=limit_file_size)
    if shutil.which("strace"):
        trace = ["strace", "-f", "-o", "/dev/null", "-e"]
        os.environ["OMP_NUM_THREADS"] = "1"
        for call, error, text in [
            ("fallocate", "ENOSPC", "No space left on device"), ("fallocate", "EDQUOT", "Disk quota exceeded"),
            ("fsync", "EIO", "Input/output error"), ("mkdir", "EROFS", "Read-only file system"),
            ("renameat2", "EIO", "Input/output error"), ("fallocate", "EIO", "Input/output error"),
        ]:
            cases.check(f"{call} fails with {error}", seed, run_dir, text, [*trace, f"inject={call}:error={error}"])
    else:
        print("SKIPPED: no strace, no failing calls")
    if os.geteuid() == 0:
        disk = trained.work / "disk"
        disk.mkdir(exist_ok=True)
        size = int(2.5 * CHECKPOINT_BYTES)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], check=True)
        try:
            cases.check("a disk that is full", seed, disk / "run", "the disk is full")
        finally:
            subprocess.run(["umount", disk], check=True)
        # Read-only: the folder cannot even be locked, and nothing is written.
        subprocess.run(["mount", "--bind", seed, disk], check=True)
        try:
            subprocess.run(["mount", "-o", "remount,bind,ro", disk], check=True)
            done = subprocess.run([program.SAVE_LOOP, f"--run_dir={disk}", "--steps=4"], capture_output=True, text=True)
            passed = done.returncode == 1 and "Read-only file system" in done.stderr and program.verify(disk)[0]
            cases.total += 1
            cases.bad += not passed
            print(f"{'ok ' if passed else 'BAD'} a folder that is read-only: {done.stderr.strip()}")
        finally:
            subprocess.run(["umount", disk], check=True)
    else:
        print("SKIPPED: only root can mount a small or read-only file system")
    print(f"{cases.total} cases: {cases.total - cases.bad} pass, {cases.bad} fail")
    return 0 if cases.bad == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

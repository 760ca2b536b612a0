#!/usr/bin/env python3
"""Simulates a power cut: copies the image of a mounted ext4 file system while a program saves to it,
mounts the copy, and checks every checkpoint that was acknowledged.

    python3 tools/faults/power_cut.py --trials=100      (as root)

Data that the kernel has not written yet is not in the copy. The program is stopped during the copy,
which is repeated until the image did not change meanwhile. Exit code 1 if an acknowledged checkpoint
is missing, or if any listed checkpoint is damaged.
"""

import filecmp
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import program


def call(*argv) -> None:
    subprocess.run([str(word) for word in argv], check=True, capture_output=True)


def unmount(folder: pathlib.Path) -> None:
    # What a process that was killed had open is closed a little later.
    for _ in range(50):
        if subprocess.run(["umount", str(folder)], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)


def stop(pid: int) -> None:
    """Stops the program, and waits until no thread of it is inside the kernel any more."""
    os.killpg(pid, signal.SIGSTOP)
    while True:
        states = [path.read_text().rpartition(")")[2].split()[0] for path in pathlib.Path("/proc").glob(f"{pid}/task/*/stat")]
        if all(state in "Tt" for state in states):
            return
        time.sleep(0.001)


def copy_still(image: pathlib.Path, copy: pathlib.Path) -> None:
    """Copies an image that does not change meanwhile: the kernel may still be writing of its own accord."""
    for _ in range(100):
        shutil.copyfile(image, copy)
        if filecmp.cmp(image, copy, shallow=False):
            return
    raise RuntimeError("the image does not come to rest")


def main() -> int:
    parser = program.arguments(__doc__, trials=100)
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--no_sync", action="store_true", help="with fsync made to do nothing: must fail")
    parser.set_defaults(command=f"{program.SAVE_LOOP} --run_dir={{run_dir}} --steps=1000000 --elements=50000")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIPPED: only root can mount file systems; nothing was tested")
        return 0
    trained = program.Program(options)
    image = trained.work / "disk.img"
    mounted, looked = trained.work / "disk", trained.work / "copy"
    for folder in (mounted, looked):
        folder.mkdir(exist_ok=True)
    call("truncate", "-s", f"{options.megabytes}M", image)
    call("mkfs.ext4", "-q", "-F", image)
    call("mount", "-o", "loop", image, mounted)
    argv = trained.argv(mounted / "run")
    if options.no_sync:
        argv = ["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync,fdatasync:retval=0", *argv]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    os.set_blocking(process.stdout.fileno(), False)
    rng = random.Random(options.seed)
    said = b""
    intact = sound_all = zero = with_ack = 0
    try:
        for trial in range(options.trials):
            time.sleep(rng.uniform(0.02, 0.5))
            stop(process.pid)
            said += process.stdout.read() or b""
            # A file of its own: under one name, mount may take the device of the copy before, with what it remembers.
            copy = trained.work / f"copy{trial}.img"
            copy_still(image, copy)
            os.killpg(process.pid, signal.SIGCONT)
            saved = [int(step) for step in re.findall(rb"^saved (\d+)", said, re.M)]
            call("mount", "-o", "loop", copy, looked)
            run_dir = looked / "run"
            sound, steps, report = program.verify(run_dir)
            zero += any(path.stat().st_size == 0 for path in run_dir.glob("step-*/*")) if run_dir.exists() else 0
            call("umount", looked)
            copy.unlink()
            there = not saved or saved[-1] in steps or any(step > saved[-1] for step in steps)
            with_ack += bool(saved)
            intact += there
            sound_all += sound
            if not there or not sound:
                print(f"trial {trial}: acknowledged {saved[-1:]}, listed {sorted(steps)}: {report}", flush=True)
            if process.poll() is not None:
                print("the program ended by itself")
                return 1
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if looked.is_mount():
            unmount(looked)
        unmount(mounted)
        image.unlink()
    print(f"{options.trials} power cuts ({with_ack} after an acknowledged save): {intact} with every acknowledged save "
          f"intact, {sound_all} with nothing damaged listed, {zero} with an empty file in a step")
    return 0 if intact == sound_all == options.trials and zero == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

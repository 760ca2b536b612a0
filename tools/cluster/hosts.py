"""Several hosts on one machine: each has its own network, processes and name, all share the files.

    if __name__ == "__main__":
        hosts.enter(__file__, packages)   # from here on as root of namespaces of its own
        with hosts.Hosts(3) as cluster:
            cluster[0].start(["hostname"])

A host is a set of Linux namespaces, connected to the others by a virtual switch. The process that
calls enter() is on the switch as well, under the name "head". Nothing of it reaches the machine:
packages are unpacked over /usr and /etc in a mount namespace that ends with the process.
"""

import os
import pathlib
import shutil
import signal
import select
import subprocess
import sys
import tarfile
import time

NETWORK = "10.77.0"
HEAD = f"{NETWORK}.254"
_SCRATCH = pathlib.Path("/run")
_INSIDE = "TRAINYARD_CLUSTER_INSIDE"
_TOOLS = ["unshare", "nsenter", "ip", "mount"]
# Seconds, for what takes a fraction of one on a machine that is not overloaded.
LIMIT = 60


def skip(reason: str) -> None:
    """Ends the test; says that nothing was tested."""
    print(f"SKIPPED: {reason}; nothing was tested", flush=True)
    sys.exit(0)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def _check_machine() -> None:
    if os.geteuid() != 0:
        skip("hosts are namespaces, which need root")
    for tool in _TOOLS:
        if shutil.which(tool) is None:
            skip(f"there is no program {tool}")
    try:
        _run("unshare", "--mount", "--net", "--pid", "--uts", "--fork", "ip", "link", "add", "sw0", "type", "bridge")
    except RuntimeError as error:
        skip(f"no namespaces or no virtual switch: {error}")


def enter(script: str, packages: str | None = None, programs: tuple[str, ...] = ()) -> None:
    """Runs the script again in namespaces of its own, and returns there. `packages`: an archive of
    Debian packages to unpack; must then have these programs."""
    # Daemons and ip are in the folders of administrators, which Bazel's tests do not search.
    os.environ["PATH"] = ":".join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])
    if _INSIDE not in os.environ:
        _check_machine()
        command = ["unshare", "--mount", "--net", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc",
                   sys.executable, "-B", os.path.abspath(script), *sys.argv[1:]]
        os.execvpe("unshare", command, os.environ | {_INSIDE: "1"})
    _run("mount", "--make-rprivate", "/")
    # Files of this cluster alone: they are gone with the mount namespace.
    _run("mount", "-t", "tmpfs", "tmpfs", str(_SCRATCH))
    unpacked = _SCRATCH / "packages"
    unpacked.mkdir()
    if packages is not None:
        with tarfile.open(packages) as archive:
            archive.extractall(unpacked)
    _overlay("usr", unpacked)
    _overlay("etc", unpacked)
    _run("/sbin/ldconfig")
    for program in programs:
        if shutil.which(program) is None:
            skip(f"there is no program {program}, and Debian's package of it could not be downloaded")


def _overlay(name: str, unpacked: pathlib.Path) -> None:
    for part in ("upper", "work"):
        (_SCRATCH / name / part).mkdir(parents=True)
    (unpacked / name).mkdir(exist_ok=True)
    _run("mount", "-t", "overlay", "overlay", f"/{name}", "-o",
         f"lowerdir={unpacked}/{name}:/{name},upperdir={_SCRATCH}/{name}/upper,workdir={_SCRATCH}/{name}/work")


class Host:
    """One host; kill() is a power cut, cut() pulls its network cable."""

    def __init__(self, number: int):
        self.name = f"n{number}"
        self.address = f"{NETWORK}.{number}"
        self._outer_link = f"to{self.name}"
        self._hardware = f"02:00:00:00:00:{number:02x}"
        self._holder: subprocess.Popen | None = None
        self._init = 0
        self.boot()

    def boot(self) -> None:
        self._holder = subprocess.Popen(
            ["unshare", "--net", "--pid", "--uts", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
             "echo up; exec sleep infinity"],
            # It complains of its child's end.
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        if not select.select([self._holder.stdout], [], [], LIMIT)[0] or self._holder.stdout.readline() != b"up\n":
            self._holder.kill()
            raise RuntimeError(f"{self.name} does not come up: unshare ended with {self._holder.wait()}")
        children = pathlib.Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text()
        self._init = int(children.split()[0])
        # A host keeps its hardware address: others remember it for a minute.
        _run("ip", "link", "add", self._outer_link, "type", "veth", "peer", "name", "eth0", "address", self._hardware,
             "netns", str(self._init))
        _run("ip", "link", "set", self._outer_link, "master", "sw0", "up")
        for command in (["hostname", self.name], ["ip", "link", "set", "lo", "up"],
                        ["ip", "address", "add", f"{self.address}/24", "dev", "eth0"],
                        ["ip", "link", "set", "eth0", "up"]):
            _run(*self._inside(command))

    def _inside(self, command: list[str]) -> list[str]:
        return ["nsenter", "-t", str(self._init), "--net", "--pid", "--uts", "--mount", "--", *map(str, command)]

    def start(self, command: list[str], **kwargs) -> subprocess.Popen:
        return subprocess.Popen(self._inside(command), **kwargs)

    def run(self, command: list[str], **kwargs) -> subprocess.CompletedProcess:
        """Waits for its end; throws subprocess.TimeoutExpired after LIMIT seconds."""
        return subprocess.run(self._inside(command), timeout=LIMIT, **kwargs)

    def kill(self) -> None:
        """All processes of the host are gone, and so is its network. Nothing happens to a host that is down."""
        if self._holder is None:
            return
        os.kill(self._init, signal.SIGKILL)
        self._holder.wait(LIMIT)
        self._holder = None
        # The kernel removes it a little later, with the namespace of its other end.
        end = time.monotonic() + LIMIT
        while self._link_exists():
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name} was killed, but its network link {self._outer_link} stays")
            subprocess.run(["ip", "link", "delete", self._outer_link], capture_output=True, timeout=LIMIT)

    def _link_exists(self) -> bool:
        return subprocess.run(["ip", "link", "show", self._outer_link], capture_output=True,
                              timeout=LIMIT).returncode == 0

    def cut(self) -> None:
        _run("ip", "link", "set", self._outer_link, "down")

    def restore(self) -> None:
        _run("ip", "link", "set", self._outer_link, "up")


class Hosts:
    """`count` hosts n1, n2, … and the switch between them."""

    def __init__(self, count: int):
        _run("hostname", "head")
        lines = ["127.0.0.1 localhost", f"{HEAD} head"]
        lines += [f"{NETWORK}.{number} n{number}" for number in range(1, count + 1)]
        pathlib.Path("/etc/hosts").write_text("\n".join(lines) + "\n")
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "link", "add", "sw0", "type", "bridge", "forward_delay", "0")
        _run("ip", "address", "add", f"{HEAD}/24", "dev", "sw0")
        _run("ip", "link", "set", "sw0", "up")
        self.hosts = [Host(number) for number in range(1, count + 1)]

    def __enter__(self) -> "Hosts":
        return self

    def __exit__(self, *_) -> None:
        for host in self.hosts:
            host.kill()

    def reboot(self) -> None:
        """All hosts are up, and none has a process of before."""
        for host in self.hosts:
            host.kill()
            host.boot()

    def remote_shell(self) -> str:
        """A script that does what `ssh HOST COMMAND` does, for MPI's launchers."""
        cases = "".join(
            f'  {host.name}) exec {" ".join(host._inside(["/bin/sh", "-c"]))} "$*" ;;\n' for host in self.hosts)
        return f'#!/bin/sh\n[ "$1" != -x ] || shift\nhost=$1\nshift\ncase $host in\n{cases}esac\n'

    def __getitem__(self, index: int) -> Host:
        return self.hosts[index]

    def __len__(self) -> int:
        return len(self.hosts)

    def __iter__(self):
        return iter(self.hosts)

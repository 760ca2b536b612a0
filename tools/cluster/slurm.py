"""A real Slurm over hosts.Hosts: munged and slurmctld on the head, a slurmd on each host."""

import os
import pathlib
import re
import subprocess
import time

import hosts

PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "scontrol", "munged")

_CONFIGURATION = """\
ClusterName=yard
SlurmctldHost=head({head})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=cred_expire={cred_expire}
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/%n
SlurmdPidFile=/run/slurm/slurmd-%n.pid
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmctldLogFile=/run/slurm/slurmctld.log
SlurmdLogFile=/run/slurm/%n.log
SlurmctldTimeout=30
SlurmdTimeout=5
KillWait=20
MinJobAge=600
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=n[1-{count}] CPUs={cpus} State=UNKNOWN
PartitionName=yard Nodes=n[1-{count}] Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:

    def __init__(self, cluster: hosts.Hosts, cpus: int = 4, cred_expire: int = 5):
        """cred_expire: for so many seconds, 120 by Slurm's own default, a job that was requeued is not started again."""
        self.cluster = cluster
        for folder in ("/run/slurm/state", "/run/munge", "/etc/munge", "/etc/slurm", "/run/munge-state"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        os.chmod("/run/munge", 0o755)
        key = pathlib.Path("/run/munge-state/key")
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self._command("munged", "--force", f"--key-file={key}", "--socket=/run/munge/munge.socket.2",
                      "--pid-file=/run/munge-state/pid", "--log-file=/run/munge-state/log",
                      "--seed-file=/run/munge-state/seed")
        pathlib.Path("/etc/slurm/slurm.conf").write_text(
            _CONFIGURATION.format(head=hosts.HEAD, count=len(cluster), cpus=cpus, cred_expire=cred_expire))
        pathlib.Path("/etc/slurm/cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        self._command("slurmctld")
        for host in cluster:
            self.start_node(host)
        self.wait_for_nodes(len(cluster))

    @staticmethod
    def _command(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=hosts.LIMIT)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def start_node(self, host: hosts.Host) -> None:
        pathlib.Path(f"/run/slurm/{host.name}").mkdir(exist_ok=True)
        host.run(["slurmd", "-N", host.name], check=True)

    def wait_for_nodes(self, count: int, limit: float = 60) -> None:
        end = time.monotonic() + limit
        while True:
            idle = self._command("sinfo", "-h", "-N", "-o", "%N %T").split("\n")
            if sum(line.endswith(("idle", "allocated", "mixed")) for line in idle) >= count:
                return
            if time.monotonic() > end:
                logs = "\n".join(path.read_text()[-2000:] for path in pathlib.Path("/run/slurm").glob("*.log"))
                raise RuntimeError(f"the nodes do not come up: {idle}\n{logs}")
            time.sleep(0.1)

    def submit(self, script: str, *options: str) -> int:
        done = subprocess.run(["sbatch", "--parsable", *options], input=script, capture_output=True, text=True,
                              timeout=hosts.LIMIT)
        if done.returncode != 0:
            raise RuntimeError(f"sbatch: {done.stderr}")
        return int(done.stdout)

    def submit_file(self, path: str, *arguments: str, options: list[str]) -> int:
        return int(self._command("sbatch", "--parsable", *options, path, *arguments))

    def job(self, number: int) -> dict[str, str]:
        text = self._command("scontrol", "show", "job", str(number), "-o")
        return dict(re.findall(r"(\w+)=(\S*)", text))

    def wait_for_state(self, number: int, states: tuple[str, ...], limit: float = 120) -> dict[str, str]:
        end = time.monotonic() + limit
        while (job := self.job(number))["JobState"] not in states:
            if time.monotonic() > end:
                raise RuntimeError(f"job {number} is {job['JobState']}, not {' or '.join(states)}")
            time.sleep(0.1)
        return job

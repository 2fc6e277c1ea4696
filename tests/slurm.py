"""A private SLURM of one node, without systemd or files under /etc, for tests of the cluster profiles."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo", "srun")
DAEMONS = ("slurmd", "slurmctld", "munged")
"""In the order in which they are stopped."""
CPUS, MEMORY_MB = 4, 32000
"""What the node claims to have, whatever the machine has: no job of a test uses what it asks for."""
SECONDS = 30

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
# No cgroups: processes are followed by their parents, and memory is held to its limit by looking every second.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=500
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=2
# Jobs that have ended are remembered for the length of a test.
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Programs of SLURM that this machine lacks."""
    return [name for name in PROGRAMS if _program(name) is None]


@contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """Start SLURM, give the environment that finds it, and stop it at the end."""
    # Not below pytest's folder, which others may not enter: the daemons refuse to put sockets there.
    with tempfile.TemporaryDirectory(prefix="slurm-") as name, _running(Path(name)) as environment:
        yield environment


@contextmanager
def _running(folder: Path) -> Iterator[dict[str, str]]:
    host, conf = socket.gethostname().split(".")[0], folder / "slurm.conf"
    _write(folder, host)
    environment = _environment(folder)
    try:
        _start(folder, "munged", f"--socket={folder}/munge.sock", f"--key-file={folder}/munge.key",
               f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
               f"--seed-file={folder}/munge.seed", "--force")  # fmt: skip
        _start(folder, "slurmctld", "-c", "-f", str(conf))
        _wait(folder, ["scontrol", "ping"], environment, "UP")
        _start(folder, "slurmd", "-c", "-f", str(conf), "-N", host)
        _wait(folder, ["sinfo", "--noheader", "--format=%T"], environment, "idle")
        yield environment
    finally:
        _stop(folder, environment)


def jobs(environment: dict[str, str]) -> list[dict[str, str]]:
    """What SLURM remembers of every job, in the order in which they were submitted."""
    listed = subprocess.run(
        ["scontrol", "--oneliner", "show", "jobs"], env=environment, capture_output=True, text=True, check=True
    ).stdout
    found = [
        dict(word.split("=", 1) for word in line.split() if "=" in word)
        for line in listed.splitlines()
        if line.startswith("JobId=")
    ]
    return sorted(found, key=lambda job: int(job["JobId"]))


def _write(folder: Path, host: str) -> None:
    folder.chmod(0o755)
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    controller, node = _free_ports()
    (folder / "slurm.conf").write_text(
        CONF.format(
            folder=folder, host=host, user=getpass.getuser(), controller=controller, node=node,
            cpus=CPUS, memory=MEMORY_MB,
        )
    )  # fmt: skip
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    # Within a job Snakemake takes SLURM_CONF away before it calls srun, which then would look under /etc.
    wrapper = folder / "bin/srun"
    wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {_program("srun")} "$@"\n')
    wrapper.chmod(0o755)


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "SLURM_CONF": str(folder / "slurm.conf"),
        "PATH": os.pathsep.join([str(folder / "bin"), os.environ["PATH"]]),
    }


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"]))


def _start(folder: Path, name: str, *arguments: str) -> None:
    """Start a daemon, which goes into the background by itself and writes its pid."""
    program = _program(name)
    assert program is not None
    with (folder / f"{name}.out").open("w") as said:
        # Not captured: the daemon would hold the pipe for as long as it lives.
        done = subprocess.run([program, *arguments], stdout=said, stderr=said, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} did not start: {_told(folder)}")


def _wait(folder: Path, command: list[str], environment: dict[str, str], word: str) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
        if word in said:
            return
        time.sleep(0.2)
    raise RuntimeError(f"{' '.join(command)} never said {word}: {_told(folder)}")


def _stop(folder: Path, environment: dict[str, str]) -> None:
    if (folder / "slurmctld.pid").is_file():
        subprocess.run(["scancel", "--partition=test"], env=environment, capture_output=True, check=False)
    for name in DAEMONS:
        pid = folder / f"{name}.pid"
        if pid.is_file():
            _end(int(pid.read_text()))


def _end(pid: int) -> None:
    """Ask a process to end and wait until it has."""
    deadline = time.monotonic() + SECONDS
    try:
        os.kill(pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            os.kill(pid, 0)
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _told(folder: Path) -> str:
    """The end of what the daemons said."""
    files = sorted([*folder.glob("*.out"), *folder.glob("*.log")])
    return "\n".join(path.read_text(errors="replace")[-1000:] for path in files)

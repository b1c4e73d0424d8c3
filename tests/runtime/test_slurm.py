"""A real Slurm: Debian's packages unpacked into a folder, one node on loopback, an array of which
one element is killed.
"""

import getpass
import hashlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from full_run import record

pytestmark = [pytest.mark.slow, pytest.mark.server]
PACKAGES = (
    "slurmctld",
    "slurmd",
    "slurm-client",
    "slurm-wlm-basic-plugins",
    "libhwloc15",
    "libmunge2",
    "libnuma1",
    "libjson-c5",
    "libyaml-0-2",
    "liblua5.1-0",
    "libdbus-1-3",
    "liblz4-1",
    "libreadline8",
    "libpam0g",
)
CONFIGURATION = """ClusterName=rankwell
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2
ReturnToService=2
PluginDir={plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=4096
PartitionName=all Nodes={host} Default=YES MaxTime=10
"""


def free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def until(what: str, found: Callable[[], Any], seconds: float = 60) -> Any:
    """The first result that is true."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, f"{seconds} s without {what}"
        time.sleep(0.05)
    return result


class Slurm:
    """A controller and a node, both processes of this one. Its programs are called by their
    names.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        libraries = root / "usr/lib/x86_64-linux-gnu"
        libraries = (
            libraries if libraries.is_dir() else next((root / "usr/lib").glob("*-linux-gnu"))
        )
        plugins, host, self._programs = (
            libraries / "slurm-wlm",
            socket.gethostname().partition(".")[0],
            root / "usr/bin",
        )
        for name in ("state", "spool"):
            (folder / name).mkdir()
        text = CONFIGURATION.format(
            host=host, user=getpass.getuser(), plugins=plugins, folder=folder, ports=free_ports(2)
        )
        (folder / "slurm.conf").write_text(text)
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        found = [str(libraries), str(plugins), str(root / "lib" / libraries.name)]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "SLURM_CONF": str(folder / "slurm.conf")}
        self._libraries = {**self.environment, "LD_LIBRARY_PATH": os.pathsep.join(found)}
        daemons = root / "usr/sbin"
        self._daemons: list[subprocess.Popen[bytes]] = []
        for name, words in (
            ("slurmctld-wlm", ["-c"]),
            ("slurmd-wlm", ["-d", str(daemons / "slurmstepd-wlm"), "-N", host]),
        ):
            with (folder / f"{name}.out").open("wb") as output:
                every = [str(daemons / name), "-D", *words]
                self._daemons.append(
                    subprocess.Popen(every, env=self._libraries, stdout=output, stderr=output)
                )

    def call(self, *words: str, cwd: Path | None = None) -> str:
        """What a program of Slurm prints; nothing where the controller does not answer yet."""
        done = subprocess.run(
            [str(self._programs / words[0]), *words[1:]],
            env=self._libraries,
            capture_output=True,
            encoding="utf-8",
            cwd=cwd,
        )
        return done.stdout if done.returncode == 0 else ""

    def is_ready(self) -> bool:
        """Whether the node takes jobs."""
        return "idle" in self.call("sinfo", "-h", "-o", "%T")

    def elements(self, state: str) -> list[str]:
        """The array elements in a state, as `job_index`."""
        return self.call("squeue", "-h", "-r", "-t", state, "-o", "%F_%K").split()

    def stop(self) -> None:
        """Ends both daemons and whatever they run."""
        self.call("scancel", "--user", getpass.getuser())
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        pytest.skip("Debian's packages of Slurm are not available here")
    packages, root, folder = (tmp_path / name for name in ("packages", "root", "slurm"))
    for each in (packages, root, folder):
        each.mkdir()
    subprocess.run(
        ["apt-get", "download", "-qq", *PACKAGES], cwd=packages, check=True, capture_output=True
    )
    for package in packages.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    running = Slurm(root, folder)
    try:
        until("a node that takes jobs", running.is_ready)
        yield running
    finally:
        running.stop()


def test_an_array_of_slurm_with_a_killed_element_gives_the_bytes_of_one_process(
    slurm: Slurm, tmp_path: Path
):
    rng = np.random.default_rng(20)
    base = rng.normal(size=(60_000, 48)).astype(np.float32)
    base[rng.choice(60_000, 6000, replace=False)] = base[rng.integers(0, 60_000, 6000)]
    np.save(tmp_path / "base.npy", base)
    np.save(tmp_path / "queries.npy", rng.normal(size=(3000, 48)).astype(np.float32))
    search = ["knn", "base.npy", "queries.npy", "--neighbours", "10", "--metric", "l2"]
    array = [
        *search,
        "-o",
        "array.run",
        "--executor",
        "array",
        "--work",
        "work",
        "--shards",
        "6",
        "--memory",
        "64M",
        "--threads",
        "1",
    ]

    def run(words: list[str]) -> "subprocess.CompletedProcess[str]":
        every = [sys.executable, "-m", "rankwell", *words]
        return subprocess.run(
            every, cwd=tmp_path, env=slurm.environment, capture_output=True, encoding="utf-8"
        )

    def submit(text: str) -> str:
        """Submits the line that the command has printed; the number of the job."""
        line = re.search(r"^\s*(sbatch .*)$", text, re.MULTILINE)
        assert line is not None, text
        return re.sub(r"\D", "", slurm.call(*shlex.split(line[1]), cwd=tmp_path))

    planned = run(array)
    assert planned.returncode == 0, planned.stderr
    job = submit(planned.stdout)
    victim = until("a running element", lambda: slurm.elements("R"))[0]
    slurm.call("scancel", "--full", "--signal=KILL", victim)
    until("the end of the array", lambda: not slurm.elements("PD,R,CG") and job, 120)
    unfinished = run(array)
    missing = victim.partition("_")[2]
    assert unfinished.returncode == 5, unfinished.stderr
    assert f"--array={missing} " in unfinished.stdout + unfinished.stderr
    submit(unfinished.stdout + unfinished.stderr)
    until("the end of the second array", lambda: not slurm.elements("PD,R,CG"), 120)
    merged = run(array)
    one = run([*search, "-o", "one.run"])

    assert (merged.returncode, one.returncode) == (0, 0), merged.stderr
    assert (tmp_path / "array.run").read_bytes() == (tmp_path / "one.run").read_bytes()
    counts = {
        "slurm": slurm.call("sinfo", "--version").split()[1],
        "queries": 3000,
        "items": 60_000,
        "k": 10,
        "elements": 6,
        "killed": 1,
        "submitted again": 1,
        "sha256 of the result": hashlib.sha256((tmp_path / "array.run").read_bytes()).hexdigest(),
    }
    record("slurm", counts)

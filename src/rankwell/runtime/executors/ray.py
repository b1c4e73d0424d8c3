"""Ray: a cluster of this machine, started and stopped again, or one to join, `ray:ADDRESS`, which
is never stopped.

Ray gets the name of a function and one JSON string a call, and returns a string; no data passes
through its object store.
"""

import json
import os
import platform
import socket
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from rankwell import __version__
from rankwell.errors import BadUsage, flag, needing
from rankwell.processes import safe_path
from rankwell.runtime.executors import (
    EXECUTORS,
    RETRIES,
    Answers,
    Executor,
    PartCalls,
    Resources,
    Run,
    call,
    lost_too_often,
    worker_variables,
)
from rankwell.startup import SAFE_PATH
from rankwell.threads import processors

_CLUSTER_VARIABLES = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""The environment of clusters that we start: no one joins without the token, and nothing is sent to
Ray's makers.
"""
_SECONDS = 5
_OBJECTS = 80 << 20  # bytes of the object store, the least that Ray takes


def versions(_: str) -> str:
    """The versions that must be equal on all nodes, as JSON."""
    import ray

    return json.dumps(
        {"python": platform.python_version(), "ray": ray.__version__, "rankwell": __version__}
    )


@contextmanager
def _open(address: str, resources: Resources) -> Generator[Run]:
    threads = resources.threads or 1
    if not address:
        if sys.modules.get("ray") is not None and os.environ.get("RAY_AUTH_MODE") != "token":
            # Ray reads it once, when it is imported.
            raise BadUsage(
                "Ray is already imported without RAY_AUTH_MODE=token; set that first, or join "
                "a cluster: ray:ADDRESS."
            )
        os.environ.update(_CLUSTER_VARIABLES)
    with needing("the executor 'ray' needs Ray: pip install 'rankwell[ray]'."):
        import ray
    if ray.is_initialized():
        raise BadUsage(
            "this process is already connected to a Ray cluster; call ray.shutdown() first."
        )
    try:
        with safe_path():
            _connect(ray, address, threads)
        _refuse_unfit(ray, threads, resources)
        _refuse_other_versions(ray)
        remote = ray.remote(call).options(
            num_cpus=threads, num_gpus=resources.gpus, memory=resources.memory, max_retries=RETRIES
        )
        yield partial(_run, ray, remote)
    finally:
        ray.shutdown()  # stops a cluster only where this process has started it


def _connect(ray: Any, address: str, threads: int) -> None:
    """Starts a cluster of this machine, or joins one. Raises BadUsage for one that cannot be
    reached.
    """
    # Workers import from their own paths: Ray puts its driver's working directory before them.
    job = ray.job_config.JobConfig()
    job._py_driver_sys_path = _NoFolders()
    job_options = {
        "logging_level": "ERROR",
        "log_to_driver": False,
        # Of the whole job: calls of another environment than the job's start further processes.
        "runtime_env": {"env_vars": {**worker_variables(threads), SAFE_PATH: "1"}},
        "job_config": job,
    }
    if not address:
        try:
            ray.init(
                address="local",
                num_cpus=max(processors(), threads),
                include_dashboard=False,
                object_store_memory=_OBJECTS,
                _node_ip_address="127.0.0.1",
                **job_options,
            )
        # Ray raises the class itself where its node does not start in time.
        except Exception as error:
            raise BadUsage(
                f"Ray cannot be started here ({_first_line(error)}); "
                f"{flag('--executor', 'processes')} needs none."
            ) from error
        return
    host, _, port = address.rpartition(":")
    is_host_and_port = bool(host) and port.isdecimal()
    if not is_host_and_port and address != "auto" and "://" not in address:
        raise BadUsage(
            f"{flag('--executor', f'ray:{address}')}: expected ray:HOST:PORT, such as "
            "ray:head:6379."
        )
    try:
        if is_host_and_port:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS).close()
        ray.init(address=address, **job_options)
    except Exception as error:
        raise BadUsage(
            f"{flag('--executor', f'ray:{address}')}: the cluster cannot be joined "
            f"({_first_line(error)}); check the address, the token, and the versions of Python and "
            "Ray there."
        ) from error


class _NoFolders(list[str]):
    """A list that stays empty."""

    def extend(self, _: Iterable[str], /) -> None:
        """Adds nothing."""


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].strip()


def _refuse_unfit(ray: Any, threads: int, resources: Resources) -> None:
    """Raises BadUsage where no node has enough for a part: Ray would wait for one for ever."""
    node_resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    needed = {"CPU": threads, "memory": resources.memory, "GPU": resources.gpus}
    cores, memory, gpus = (
        max((node.get(name, 0) for node in node_resources), default=0) for name in needed
    )
    if gpus < resources.gpus:
        raise BadUsage(
            f"{flag('--gpus', resources.gpus)}: no node of the cluster has as many; the most is "
            f"{gpus:g}."
        )
    if not any(
        all(node.get(name, 0) >= amount for name, amount in needed.items())
        for node in node_resources
    ):
        raise BadUsage(
            f"a part needs {threads} processors and {resources.memory >> 20} MiB; the largest node "
            f"has {cores:g} and {int(memory) >> 20} MiB; plan smaller parts with "
            f"{flag('--memory')}, or use fewer threads."
        )


def _refuse_other_versions(ray: Any) -> None:
    """Raises BadUsage where a node has other versions of Python, Ray or rankwell than this
    process.
    """
    from ray.exceptions import TaskUnschedulableError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    alive_nodes = [node for node in ray.nodes() if node["Alive"]]
    requested = [
        ray.remote(call)
        .options(
            num_cpus=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
        )
        .remote("rankwell.runtime.executors.ray:versions", "")
        for node in alive_nodes
    ]
    for node, reference in zip(alive_nodes, requested, strict=True):
        hostname = node["NodeManagerHostname"]
        try:
            node_json = ray.get(reference, timeout=60)
        except TaskUnschedulableError:
            continue  # lost since the cluster listed it, so that no part will run there
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
            raise BadUsage(
                f"the node {hostname} cannot run rankwell ({reason}); install rankwell "
                f"{__version__} there."
            ) from error
        node_versions = json.loads(node_json)
        for package, version in json.loads(versions("")).items():
            if node_versions.get(package) != version:
                raise BadUsage(
                    f"the node {hostname} has {package} {node_versions.get(package)}, this machine "
                    f"{version}; install the same versions everywhere."
                )


def _run(ray: Any, remote: Any, calls: PartCalls) -> Answers:
    indices = {
        remote.remote(calls.function, calls.argument(index), calls.seconds): index
        for index in calls.indices
    }
    try:
        while indices:
            for reference in ray.wait([*indices], num_returns=1)[0]:
                yield indices.pop(reference), _answer(ray, reference, calls.seconds)
    finally:
        for reference in indices:
            with suppress(Exception):
                ray.cancel(reference, force=True)


def _answer(ray: Any, reference: Any, seconds: float | None) -> str:
    from ray import exceptions

    lost = (
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,
        exceptions.RayActorError,
    )
    try:
        return ray.get(reference)
    except lost as error:
        raise lost_too_often(RETRIES + 1, seconds) from error
    except exceptions.RayTaskError as error:
        sys.stderr.write(f"{error}\n")
        raise BadUsage(
            f"a call failed on a node of the cluster ({type(error).__name__}); see the lines above."
        ) from error


EXECUTORS.add(
    "ray",
    Executor(
        "ray",
        lambda address: 16 if address else processors(),
        _open,
        is_shared=bool,
        has_time_limit=True,
        has_memory=True,
    ),
)

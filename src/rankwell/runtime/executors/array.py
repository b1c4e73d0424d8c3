"""Array jobs of a cluster: the script to submit, for Slurm and for Kubernetes; nothing runs here.

`array:1001` is an array for clusters with that MaxArraySize, Slurm's default.
"""

import json
import shlex
from collections.abc import Iterator

from rankwell.runtime.executors import (
    EXECUTORS,
    ArrayJob,
    Executor,
    parse_worker_count,
    slurm_ranges,
)

_SLURM_MOST = 1001
_PARTS = 64
"""Parts of a plan for an array, where there is enough work."""


def _limit(address: str) -> int:
    return parse_worker_count("array", address, _SLURM_MOST)


def _script(address: str, job: ArrayJob) -> str:
    """The sbatch lines, one per MaxArraySize indices, and the manifest of a Kubernetes job."""
    return "".join(
        ["# Slurm\n", *_sbatch(_limit(address), job), "\n# Kubernetes\n", *_manifest(job)]
    )


def _sbatch(limit: int, job: ArrayJob) -> Iterator[str]:
    for start in range(0, job.size, limit):
        array_indices = [index - start for index in job.indices if start <= index < start + limit]
        if array_indices:
            offset = f" --export=ALL,RANKWELL_PART_OFFSET={start}" if start else ""
            memory = -(-2 * job.memory >> 20)
            size = f"--cpus-per-task={job.threads} --mem={memory}M" + (
                f" --gres=gpu:{job.gpus}" if job.gpus else ""
            )
            yield (
                f"sbatch --array={slurm_ranges(array_indices)}{offset} {size} --requeue --wrap "
                f"{shlex.quote(shlex.join(job.command))}\n"
            )


def _manifest(job: ArrayJob) -> Iterator[str]:
    """An Indexed Job of all parts; those that are done end at once. Without files it needs no
    volume, but credentials.
    """
    sizes = f"cpu: {job.threads}, memory: {-(-2 * job.memory >> 20)}Mi" + (
        f", nvidia.com/gpu: {job.gpus}" if job.gpus else ""
    )
    folder, mount, volume = (
        "",
        "envFrom: [{secretRef: {name: bucket, optional: true}}]   # its credentials\n",
        "",
    )
    if job.has_files:
        folder = "          workingDir: /data   # where this command was run\n"
        mount = "volumeMounts: [{name: data, mountPath: /data}]\n"
        volume = "      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n"
    yield f"""apiVersion: batch/v1
kind: Job
metadata:
  name: rankwell
spec:
  completionMode: Indexed
  completions: {job.size}
  parallelism: {min(job.size, 32)}
  backoffLimitPerIndex: 3
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: part
          image: rankwell   # your image, with rankwell {job.version}
{folder}          command: {json.dumps(list(job.command))}
          resources:
            requests: {{{sizes}}}
            limits: {{{sizes}}}
          {mount}{volume}"""


EXECUTORS.add(
    "array",
    Executor(
        "array", lambda address: min(_limit(address), _PARTS) // 2, script=_script, has_memory=True
    ),
)

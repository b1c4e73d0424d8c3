"""This process: one part after the other, each on all its processors."""

from collections.abc import Generator
from contextlib import contextmanager

from rankwell.errors import BadUsage, flag
from rankwell.runtime.executors import EXECUTORS, Answers, Executor, PartCalls, Resources, Run, call


def _workers(address: str) -> int:
    if address:
        raise BadUsage(
            f"{flag('--executor', f'here:{address}')}: this process takes nothing after the "
            f"colon; write {flag('--executor', 'here')}."
        )
    return 1


@contextmanager
def _open(_: str, __: Resources) -> Generator[Run]:
    def _run(calls: PartCalls) -> Answers:
        for index in calls.indices:
            yield index, call(calls.function, calls.argument(index))

    yield _run


EXECUTORS.add("here", Executor("here", _workers, _open, has_gpus=False))

"""This process: one part after the other, each on all its processors."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from rankwell.errors import BadUsage, flag
from rankwell.executors import EXECUTORS, Executor, IsStalled, Resources, Run, call


def _workers(address: str) -> int:
    if address:
        what = (
            f"{flag('--executor', f'here:{address}')}: this process takes nothing behind the colon"
        )
        raise BadUsage(f"{what}; write {flag('--executor', 'here')}.")
    return 1


@contextmanager
def _open(_: str, __: Resources) -> Generator[Run]:
    def _run(
        function: str, arguments: Sequence[str], _: IsStalled | None = None
    ) -> Iterator[tuple[int, str]]:
        for place, argument in enumerate(arguments):
            yield place, call(function, argument)

    yield _run


EXECUTORS.add(
    "here",
    Executor("here", "This process, one part after the other", _workers, _open, has_gpus=False),
)

"""The progress of parts as one line: how many are done, and how much of the work that is."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from rankwell.parts import Amounts
from rankwell.parts.work import WorkFolder

Progress = Callable[[str, int, int], None]
_SCALES = (
    ("", 1),
    (" k", 10**3),
    (" M", 10**6),
    (" G", 10**9),
    (" T", 10**12),
    (" P", 10**15),
    (" E", 10**18),
)


@runtime_checkable
class NotedProgress(Protocol):
    """Progress that has room for a note behind the name, what is done, and the whole."""

    def __call__(self, name: str, done: int, total: int, /) -> None: ...  # noqa: D102

    def noted(self, name: str, done: int, total: int, note: str, /) -> None:
        """Reports as a call does, with a note behind it."""
        ...


def share(done: int, total: int, unit: str) -> str:
    """An amount that is done and the whole, both in the scale of the whole.

    >>> share(1_500_000, 12_000_000, "products")
    '1.5 of 12.0 M products'
    >>> share(20, 250, "texts")
    '20 of 250 texts'
    """
    scale, size = [scale for scale in _SCALES if scale[1] <= max(total, 1)][-1]
    decimals = 0 if size == 1 else 3 - len(str(total // size))
    return (
        " of ".join(f"{amount / size:.{decimals}f}" for amount in (done, total)) + f"{scale} {unit}"
    )


def shown_progress(
    work: WorkFolder, missing: Sequence[int], progress: Progress | None, name: str = "parts"
) -> Callable[[int], None]:
    """What is called with the index of each missing part of a folder that has ended."""
    if progress is None:
        return lambda _: None
    plan = work.plan
    amounts_of = plan.kind_of_part.amounts
    unit, amounts = Amounts("", ()) if amounts_of is None else amounts_of(plan.part_inputs)
    left = set(missing)

    def _show() -> None:
        done = plan.parts - len(left)
        if isinstance(progress, NotedProgress):
            total = sum(amounts)
            amount_left = sum(amounts[index] for index in left) if amounts else 0
            note = share(total - amount_left, total, unit) if total else ""
            progress.noted(name, done, plan.parts, note)
        elif done > plan.parts - len(missing):
            progress(name, done, plan.parts)

    def _end(index: int) -> None:
        left.discard(index)
        _show()

    _show()
    return _end

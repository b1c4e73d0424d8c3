"""The options of work that may be done in parts, and its outcome."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from rankwell.data.options import Doc
from rankwell.errors import BadUsage, Unfinished, flag

WorkOption = Annotated[
    str | None,
    Doc(
        "Folder of the parts, or one of a bucket (`s3://…`), with which the same "
        "command goes on after an interruption; by default a temporary one."
    ),
]
GpusOption = Annotated[
    int | None,
    Doc(
        "GPUs of a part: each process sees its own, Ray places parts on nodes that "
        "have as many, and an array requests them."
    ),
]
PartTimeoutOption = Annotated[
    float | None,
    Doc(
        "Seconds that a part may take; processes and Ray end one that takes longer, and start "
        "it again, 3 times at most."
    ),
]


@dataclass(frozen=True, kw_only=True)
class PartOptions:
    """The choices of work that is done in parts."""

    executor: Annotated[
        str | None,
        Doc(
            "What runs the parts: here, processes:N, ray, ray:HOST:PORT, or array, which "
            "prints what to submit to a cluster."
        ),
    ] = None
    work: WorkOption = None
    memory: Annotated[str | None, Doc("Memory of a part, such as 500M or 8G; 2G by default.")] = (
        None
    )
    shards: Annotated[
        int | None,
        Doc(
            "Number of ranges into which the input is cut; by default as many as the "
            "memory and the executor need."
        ),
    ] = None
    gpus: GpusOption = None
    part_timeout: PartTimeoutOption = None
    dry_run: Annotated[
        bool, Doc("Print the parts, passes, products and bytes; no vectors are read.")
    ] = False

    @property
    def is_used(self) -> bool:
        """Whether the work is done in parts at all."""
        settings = (
            self.executor,
            self.work,
            self.shards,
            self.memory,
            self.gpus,
            self.part_timeout,
        )
        return self.dry_run or any(setting is not None for setting in settings)


class PartOutcome(NamedTuple):
    """The outcome of work in parts. result: None where there is none yet; then `text` is to be
    shown, and `notes` say why.

    missing: the parts that a cluster has not computed, None where the plan is new.
    """

    result: Any = None
    text: str = ""
    notes: tuple[str, ...] = ()
    missing: tuple[int, ...] | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of a command without a result: 0 where the plan is new."""
        return 0 if self.missing is None else Unfinished.exit_code

    def finished(self) -> Any:
        """The result. Raises Unfinished with the notes and the text where there is none yet."""
        if self.result is None:
            raise Unfinished("\n".join([*self.notes, self.text]).strip())
        return self.result


def refusal(parts: PartOptions, check: Callable[[], None]) -> tuple[str, ...]:
    """The note of a dry run on an output that the work itself could not write. check: raises
    BadUsage, as do other runs.
    """
    try:
        check()
    except BadUsage as error:
        if not parts.dry_run:
            raise
        return (f"without {flag('--dry-run', True)} this is refused: {error}",)
    return ()

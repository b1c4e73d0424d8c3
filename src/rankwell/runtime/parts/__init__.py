"""Work that is cut into parts: a part is a file in a work folder, and whoever computes it, the
merged bytes are the same.

`plans.py` has the plan of a folder, `work.py` its parts and their records, `running.py` makes parts
and brings a plan to its end. A kind of part is one file, here or in `parts/` of experiments or of a
task; nothing else here knows what a part computes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell.data.catalogue import Catalogue

if TYPE_CHECKING:
    from rankwell.runtime.parts.places import WorkPlace, Write

Json = Any
"""A value that JSON can hold."""


SECOND = "second"
"""The folder of a second round in that of the first."""
MAX_SHARDS = 1_000_000
"""Ranges into which an input may be cut: each is a file."""


class Limits(NamedTuple):
    """The size of parts. memory: bytes that a part may use. workers: parts that work at once.
    shards: as requested, or None.
    """

    memory: int = 2 << 30
    workers: int = 1
    shards: int | None = None


class Cut(NamedTuple):
    """The parts of some work. parts: their number. boundaries: JSON, for the kind. costs: names and
    numbers for the user.
    """

    parts: int
    boundaries: Json
    costs: Mapping[str, int | str]


class PartContent(NamedTuple):
    """The content of a part. suffix: of its file. write: writes it to a stream. inputs: digests of
    blocks of inputs by name.

    alike: what must be equal in all parts, such as the model. machine: traits of this machine on
    which the bytes depend, such as its processor, which must be equal, too, unless a mixture is
    accepted.
    """

    suffix: str
    write: "Write"
    inputs: Mapping[str, str]
    device: str = "cpu"
    alike: Mapping[str, str] = MappingProxyType({})
    machine: Mapping[str, str] = MappingProxyType({})


class PartMachine(NamedTuple):
    """A kind of machine. traits: those on which the bytes of its parts depend. parts: computed by
    it, in order.
    """

    traits: Mapping[str, str]
    parts: list[int]


class SecondRound(NamedTuple):
    """Further parts, which need all the first ones. kind: theirs. options: as those of a plan.

    divided: whether a requested number of shards is that of these parts, too.
    """

    kind: str
    options: Mapping[str, Json]
    divided: bool = False


class Amounts(NamedTuple):
    """The work of each part, in a unit of which `--dry-run` prints the sum, such as products."""

    unit: str
    parts: Sequence[int]


class PartInputs(NamedTuple):
    """The options of a plan, and the boundaries of its parts. machines: of a merge, the kinds of
    machine that computed parts.
    """

    options: Mapping[str, Json]
    boundaries: Json
    machines: Sequence[PartMachine] = ()


@dataclass(frozen=True)
class PartKind:
    """A kind of part. All functions take options that JSON can hold, with places as absolute paths.

    files: the inputs by name, paths or addresses of objects. cut: the parts, without reading
    vectors. part: computes one.
    merge: (inputs, files of parts in order, place of the work folder) -> the result, which may read
    the files later.
    check: raises errors that only reading finds, before any work. second: the parts that follow the
    first ones, whose plan is in the folder `second` of the work folder, or None; merge then takes
    their files behind those of the first. amounts: the work of every part, for progress. derived:
    options that no user has typed, with what differs where their values do. is_sized: whether the
    memory of a part decides its size. code: the option that is a file which may name code; "" where
    nothing does.
    """

    name: str
    title: str
    files: Callable[[Mapping[str, Json]], Mapping[str, Path | str]]
    cut: Callable[[Mapping[str, Json], Limits], Cut]
    part: Callable[[PartInputs, int], PartContent]
    merge: "Callable[[PartInputs, Sequence[Path], WorkPlace], Any]"
    check: Callable[[Mapping[str, Json]], None] | None = None
    second: "Callable[[PartInputs, Sequence[Path], WorkPlace], SecondRound | None] | None" = None
    amounts: Callable[[PartInputs], Amounts] | None = None
    derived: Mapping[str, str] = field(default_factory=dict[str, str])
    is_sized: bool = True
    code: str = ""

    def code_file(self, options: Mapping[str, Json]) -> str | None:
        """The file in some options that may name code."""
        return options[self.code] if self.code else None


KINDS: Catalogue[PartKind] = Catalogue("runtime.parts", "kind of part")

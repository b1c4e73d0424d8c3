"""Writing from Python, where the options of the command line are arguments."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from rankwell.data.options import exists_error, overwriting, own_arithmetic, refuse_input
from rankwell.data.rankings import Ranking
from rankwell.data.tables import Judgments
from rankwell.errors import BadUsage, kind_of
from rankwell.io import formats as io
from rankwell.store import writing_to


@contextmanager
def writing(place: Path, *, overwrite: bool) -> Generator[None]:
    """As `writing_to` and `overwriting`, for an argument `overwrite`."""
    with writing_to(place), overwriting(overwrite):
        yield


@contextmanager
def writing_file(
    path: Path, *, overwrite: bool, inputs: Iterable[str | Path | None] = ()
) -> Generator[None]:
    """As `writing`, for a single file. Raises BadUsage for one of the inputs, and, without
    `overwrite`, for a file that is there.
    """
    with writing_to(path), overwriting(overwrite, keeping=True):
        if path.is_file():
            refuse_input(path, filter(None, inputs))
            if not overwrite:
                raise exists_error(path)
        yield


@own_arithmetic
def write_run(
    ranking: Ranking, path: str | Path, *, format: str | None = None, overwrite: bool = False
) -> str:
    """Writes a run whole or not at all; returns the format's name, which the suffix decides (`.gz`
    and `.zst` compress).

    format: where the suffix does not name it. overwrite: replace a file that is there.
    Raises BadUsage for a file that is there and a place that cannot be written, UnknownName for an
    unknown format.

    >>> import tempfile
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rw.write_run(rw.read_ranking({"q1": {"d1": 2.5}}), Path(folder, "a.run"))
    'trec'
    """
    if not isinstance(ranking, Ranking):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(
            f"write_run writes a Ranking, found {kind_of(ranking)}; read it with read_ranking."
        )
    with writing_file(Path(path), overwrite=overwrite):
        return io.write_run(ranking, path, format=format)


@own_arithmetic
def write_judgments(
    judgments: Judgments, path: str | Path, *, format: str | None = None, overwrite: bool = False
) -> str:
    """Writes judgments whole or not at all; returns the format's name, which the suffix decides.

    format: where the suffix does not name it. overwrite: replace a file that is there.
    Raises BadUsage for a file that is there and a place that cannot be written, UnknownName for an
    unknown format.
    """
    if not isinstance(judgments, Judgments):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(
            f"write_judgments writes Judgments, found {kind_of(judgments)}; read them with "
            "read_judgments."
        )
    with writing_file(Path(path), overwrite=overwrite):
        return io.write_judgments(judgments, path, format=format)

"""Writing from Python, where the options of the command line are arguments."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from rankwell.data.options import exists_error, overwriting, own_arithmetic, refuse_input
from rankwell.data.rankings import Ranking
from rankwell.data.tables import Judgments
from rankwell.errors import BadUsage, kind_of
from rankwell.io import formats as io
from rankwell.store import path_of, writing_to


@contextmanager
def writing_file(
    path: Path, *, overwrite: bool, inputs: Iterable[str | Path | None] = ()
) -> Generator[None]:
    """As `writing_to` and `overwriting`, for a single file. Raises BadUsage for one of the inputs,
    and, without `overwrite`, for a file that is there.
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
    """Writes a run to a file, whole or not at all.

    Returns the name of the format.
    Raises BadUsage for a file that already exists or cannot be written, UnknownName for a format
    that does not exist.

    Parameters
    ----------
    ranking
        The run; `read_ranking` makes one from a mapping or a data frame.
    path
        The file. Its suffix decides the format; `.gz` and `.zst` compress.
    format
        Name of the format, where the suffix does not show it.
    overwrite
        Replace a file that is there.

    >>> import tempfile
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rw.write_run(rw.read_ranking({"q1": {"d1": 2.5}}), f"{folder}/a.run")
    'trec'
    """
    if not isinstance(ranking, Ranking):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(
            f"write_run writes a Ranking, found {kind_of(ranking)}; read it with read_ranking."
        )
    with writing_file(path_of(path), overwrite=overwrite):
        return io.write_run(ranking, path, format=format)


@own_arithmetic
def write_judgments(
    judgments: Judgments, path: str | Path, *, format: str | None = None, overwrite: bool = False
) -> str:
    """Writes judgments to a file, whole or not at all.

    Returns the name of the format.
    Raises BadUsage for a file that already exists or cannot be written, UnknownName for a format
    that does not exist.

    Parameters
    ----------
    judgments
        The judgments; `read_judgments` makes them from a mapping or a data frame.
    path
        The file. Its suffix decides the format; `.gz` and `.zst` compress.
    format
        Name of the format, where the suffix does not show it.
    overwrite
        Replace a file that is there.

    >>> import tempfile
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rw.write_judgments(rw.read_judgments({"q1": {"d1": 2}}), f"{folder}/a.csv")
    'csv'
    """
    if not isinstance(judgments, Judgments):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(
            f"write_judgments writes Judgments, found {kind_of(judgments)}; read them with "
            "read_judgments."
        )
    with writing_file(path_of(path), overwrite=overwrite):
        return io.write_judgments(judgments, path, format=format)

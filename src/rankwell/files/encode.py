"""Encoding of texts as a function, on this machine or many."""

import warnings
from dataclasses import dataclass
from pathlib import Path

from rankwell.commands.encode import EncodePartOptions, encode_file
from rankwell.data.options import refuse_input, takes_options
from rankwell.files.writing import writing
from rankwell.io.matrices import Embeddings, read_embeddings
from rankwell.runtime.parts.encode import EncodeOptions
from rankwell.vectors.encoders.runs import mixed_note
from rankwell.vectors.neighbours import Progress


@dataclass(frozen=True, kw_only=True)
class EncodeFileOptions(EncodeOptions, EncodePartOptions):
    """Options of `encode`: those of the texts and their encoder, and those of the parts in which
    they are encoded.
    """


@takes_options(EncodeFileOptions)
def encode(
    texts: str | Path,
    output: str | Path,
    *,
    model: str,
    options: EncodeFileOptions,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Embeddings:
    """The embeddings (n, d) of the texts in a file, written to a .npy file as `rankwell encode`
    does; it resumes.

    texts: a path of JSON lines, CSV, TSV, Parquet or lines. output: the file; ids and a manifest
    are written beside it, and where it was made from these texts in this way there is nothing to
    do. model: a folder or name of sentence-transformers, or `tfidf-svd:DIMENSIONS`, which needs
    `fit`. executor, work and shards: as for `search`, with the bytes of one process.
    mixed: also merge parts of different processors, devices or versions; a result of such parts is
    a warning.
    overwrite: replace vectors of other texts, and other files of these names. Raises Unfinished
    with `executor="array"` while parts are missing, BadInput for bad texts, BadUsage for a file
    that is there and was made otherwise, MissingExtra.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     texts = Path(folder, "texts.txt")
    ...     _ = texts.write_text("a red car\\na red bus\\na blue bus\\n")
    ...     rw.encode(texts, Path(folder, "texts.npy"), model="tfidf-svd:2", fit=str(texts)).n
    3
    """
    place = Path(output)
    if place.exists():
        refuse_input(place, filter(None, [texts, options.fit]))
    report = None if progress is None else (lambda _, done, total: progress(done, total))
    with writing(place, overwrite=overwrite):
        encode_file(
            str(texts), place, model, options, options, overwrite=overwrite, progress=report
        ).finished()
    if note := mixed_note(place):
        warnings.warn(note, stacklevel=4)  # past the two decorators of `takes_options`
    return read_embeddings(place)

"""Encoding of texts as a function, on this machine or many."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated

from rankwell.data.options import (
    CountProgress,
    Doc,
    PartOptions,
    PartOutcome,
    overwriting,
    refusal,
    refuse_input,
    takes_options,
)
from rankwell.errors import BadUsage, flag
from rankwell.io.matrices import Embeddings, ids_content, read_embeddings
from rankwell.reporting import Output, StatusNote
from rankwell.reporting.options import Progress
from rankwell.runtime.parts.encode import (
    EncodedParts,
    EncodeOptions,
    EncoderTexts,
    chunk_of,
    encoder_of,
    encoder_texts,
)
from rankwell.runtime.parts.execution import run_in_parts
from rankwell.runtime.parts.plans import file_of_part, mixture_text
from rankwell.store import IDS_BESIDE, path_of, refuse_blocked, writing_to
from rankwell.vectors.encoders import TextEncoder, hash_all
from rankwell.vectors.encoders.runs import VectorFile, manifest_of, mixed_note, write_vectors


@dataclass(frozen=True, kw_only=True)
class EncodeFileOptions(EncodeOptions, PartOptions):
    """Options of `encode`: those of the texts and their encoder, and those of the parts in which
    they are encoded.
    """

    mixed: Annotated[
        bool,
        Doc(
            "Merge parts from different processors, devices or versions, which no single machine "
            "can reproduce; the manifest lists them."
        ),
    ] = False


@takes_options(EncodeFileOptions)
def encode(
    texts: str | Path,
    output: str | Path,
    *,
    encoder: str,
    options: EncodeFileOptions,
    overwrite: bool = False,
    progress: CountProgress | None = None,
) -> Embeddings:
    r"""Encodes the texts of a file and writes their embeddings, as `rankwell encode` does.

    Ids and a manifest are written beside the file. The same call resumes after an interruption, and
    does nothing if the file was already made from these texts in this way. Parts give the same
    bytes as one process.
    Returns the embeddings.
    Raises BadInput for texts that cannot be read, BadUsage for an existing file that was made
    differently, MissingExtra without the package of the encoder, Unfinished with `executor="array"`
    while parts are missing.

    Parameters
    ----------
    texts
        File of texts: JSON lines, CSV, TSV, Parquet, or a text per line.
    output
        The file to write (`.npy`).
    encoder
        Folder or name of a model of sentence-transformers, or `tfidf-svd:DIMENSIONS`, which needs
        `fit`.
    overwrite
        Replace vectors of other texts, and other files of these names.
    progress
        Function called as the work proceeds, with the number done and the total.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     texts = Path(folder, "texts.txt")
    ...     _ = texts.write_text("a red car\na red bus\na blue bus\n")
    ...     rw.encode(texts, Path(folder, "texts.npy"), encoder="tfidf-svd:2", fit=str(texts)).n
    3
    """
    place = path_of(output)
    if place.exists():
        refuse_input(place, filter(None, [texts, options.fit]))
    report = None if progress is None else (lambda _, done, total: progress(done, total))
    with writing_to(place), overwriting(overwrite):
        encode_file(
            str(texts), place, encoder, options, overwrite=overwrite, progress=report
        ).finished()
    if note := mixed_note(place):
        warnings.warn(note, stacklevel=4)  # past the two decorators of `takes_options`
    return read_embeddings(place)


def encode_file(
    texts: str,
    output: Path,
    model: str,
    options: EncodeFileOptions,
    *,
    overwrite: bool,
    progress: Progress,
) -> PartOutcome:
    """The encoding of a command line, in one piece or in parts; the result is its output. Arguments
    as those of the command.
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: embeddings are written as .npy; name the file so.")
    if options.mixed and not options.is_used:
        raise BadUsage(
            f"{flag('--mixed')}: one process is one machine; name the {flag('--work')} folder with "
            "the parts, or leave it out."
        )
    inputs = [texts, *filter(None, [options.fit])]
    file = VectorFile(output, "texts", IDS_BESIDE)
    blocked = refusal(options, partial(refuse_blocked, output))  # before any work
    foreign = refusal(options, partial(file.refuse_foreign, inputs, overwrite=overwrite))
    refused = blocked or foreign
    if options.dry_run and output.exists() and not overwrite:
        refused += (
            f"{output} is there: without {flag('--dry-run', True)} this encodes nothing where "
            "it was made from these texts in this way, and refuses it otherwise",
        )

    def _write(encoder: TextEncoder, content: EncoderTexts | None = None) -> Output:
        ids, encoder_input = content or encoder_texts(texts, options)
        mixture = encoder.mixture if isinstance(encoder, EncodedParts) else ()
        manifest = manifest_of(
            "texts",
            len(encoder_input),
            hash_texts(ids, encoder_input),
            encoder.describe(),
            dtype=options.dtype,
        )
        if isinstance(encoder, EncodedParts) and mixture:
            manifest["mixed"] = encoder.machines()
        messages = [f"{texts}: {len(encoder_input)} texts{'' if ids is None else ' with ids'}"]
        with file.making(manifest, overwrite=overwrite, mixed=options.mixed) as done:
            if done:
                return Output(messages=(*messages, *done))
            resumed = write_vectors(
                encoder,
                encoder_input,
                output,
                identity=manifest,
                dtype=options.dtype,
                chunk=chunk_of(options.batch_size),
                before=lambda digest: file.write_beside(manifest, digest, ids_content(ids)),
                resume=not isinstance(encoder, EncodedParts),
                progress=None if progress is None else partial(progress, "encoding"),
            )
        if resumed:
            messages.append(f"{resumed} vectors were there from a run that had not ended")
        if mixture:
            messages.append(
                f"{output} is mixed: {mixture_text(mixture)}; no one machine can make it again"
            )
        size = f"{len(encoder_input)} × {encoder.dimensions} {options.dtype}"
        return Output(messages=(*messages, StatusNote(f"wrote {output} ({size})")))

    # A file that is there may need no work at all.
    if not options.is_used or (output.exists() and not overwrite and not options.dry_run):
        content = encoder_texts(texts, options)
        return PartOutcome(_write(encoder_of(model, options), content))
    input_paths = {
        "texts": file_of_part(texts),
        "fit": None if options.fit is None else file_of_part(options.fit),
        "encoder": str(Path(model).absolute()) if Path(model).is_dir() else model,
    }
    settings = {field.name: getattr(options, field.name) for field in fields(EncodeOptions)}
    outcome = run_in_parts(
        "encode",
        {**settings, **input_paths},
        options,
        "rankwell encode",
        progress,
        _write,
        mixed=options.mixed,
    )
    return outcome._replace(messages=(*refused, *outcome.messages))


def hash_texts(ids: Sequence[str] | None, texts: Sequence[str]) -> str:
    """The SHA-256 over all texts and their ids, in order; where one ends is part of it."""
    return hash_all((*(ids or ()), *texts), b"positions" if ids is None else b"ids")

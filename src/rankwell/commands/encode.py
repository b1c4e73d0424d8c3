"""Encode texts to a file of embeddings with any model of sentence-transformers; an interrupted run
resumes.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import rankwell
from rankwell.data.options import Doc
from rankwell.errors import BadUsage, flag
from rankwell.io.matrices import IDS_BESIDE, ids_content
from rankwell.reporting.options import Aside, Output, OutputPath, Progress
from rankwell.runtime.parts.encode import (
    EncodedParts,
    EncodeOptions,
    EncoderTexts,
    chunk_of,
    encoder_of,
    encoder_texts,
)
from rankwell.runtime.parts.execution import run_in_parts
from rankwell.runtime.parts.options import PartOptions, PartOutcome, refusal
from rankwell.runtime.parts.plans import file_of_part
from rankwell.runtime.parts.work import mixture_text
from rankwell.store import refuse_blocked
from rankwell.store.locks import locked
from rankwell.vectors.encoders import TextEncoder
from rankwell.vectors.encoders.runs import (
    check_made_by,
    mixed_note,
    refuse_foreign,
    write_beside,
    write_vectors,
)


@dataclass(frozen=True, kw_only=True)
class EncodePartOptions(PartOptions):
    """The choices of encoding in parts."""

    mixed: Annotated[
        bool,
        Doc(
            "Merge parts of different processors, devices or versions, which no one "
            "machine can make again; the manifest lists them."
        ),
    ] = False


def encode(
    texts: str,
    /,
    *,
    output: OutputPath,
    model: str,
    options: EncodeOptions,
    parts: EncodePartOptions,
    overwrite: bool = False,
    progress: Progress = None,
) -> Output:
    """Encode texts to a file of embeddings with any model of sentence-transformers; an interrupted
    run resumes.

    Beside NAME.npy are NAME.ids.txt (where the texts have ids) and NAME.manifest.json, which
    records how it was made.

    Parameters
    ----------
    texts
        File of texts: JSON lines, CSV, TSV or Parquet with columns for id and text, or .txt with a
        text per line.
    output
        File to write, .npy; a folder on the way is made.
    model
        Folder or name of a model of sentence-transformers, or tfidf-svd:DIMENSIONS, which needs
        --fit.
    overwrite
        Replace vectors that were made from other texts or in another way, and other files of these
        names.
    """
    outcome = encode_file(
        texts, output, model, options, parts, overwrite=overwrite, progress=progress
    )
    if outcome.result is None:
        return Output(outcome.text, outcome.notes, outcome.exit_code)
    return outcome.result


def encode_file(
    texts: str,
    output: Path,
    model: str,
    options: EncodeOptions,
    parts: EncodePartOptions,
    *,
    overwrite: bool,
    progress: Callable[[str, int, int], None] | None,
) -> PartOutcome:
    """The encoding of a command line, in one piece or in parts; the result is its output. Arguments
    as those of the command.
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: embeddings are written as .npy; name the file so.")
    if parts.mixed and not parts.is_used:
        raise BadUsage(
            f"{flag('--mixed')}: one process is one machine; name the {flag('--work')} folder with "
            "the parts, or leave it out."
        )
    inputs = [texts, *filter(None, [options.fit])]
    blocked = refusal(parts, partial(refuse_blocked, output))  # before any work
    foreign = refusal(
        parts,
        partial(refuse_foreign, output, IDS_BESIDE, inputs, overwrite=overwrite or output.exists()),
    )
    refused = blocked or foreign
    if parts.dry_run and output.exists() and not overwrite:
        refused += (
            f"{output} is there: without {flag('--dry-run', True)} this encodes nothing where "
            "it was made from these texts in this way, and refuses it otherwise",
        )

    def _write(encoder: TextEncoder, content: EncoderTexts | None = None) -> Output:
        content = content or encoder_texts(texts, options)
        return _written(
            texts,
            content,
            encoder,
            output,
            options,
            overwrite=overwrite,
            mixed=parts.mixed,
            progress=progress,
        )

    # A file that is there may need no work at all.
    if not parts.is_used or (output.exists() and not overwrite and not parts.dry_run):
        content = encoder_texts(texts, options)
        return PartOutcome(_write(encoder_of(model, options), content))
    input_paths = {
        "texts": file_of_part(texts),
        "fit": None if options.fit is None else file_of_part(options.fit),
        "model": str(Path(model).absolute()) if Path(model).is_dir() else model,
    }
    settings = {field.name: getattr(options, field.name) for field in fields(EncodeOptions)}
    outcome = run_in_parts(
        "encode",
        {**settings, **input_paths},
        parts,
        "rankwell encode",
        progress,
        _write,
        mixed=parts.mixed,
    )
    return outcome._replace(notes=(*refused, *outcome.notes))


def _written(
    texts: str,
    content: EncoderTexts,
    encoder: TextEncoder,
    output: Path,
    options: EncodeOptions,
    *,
    overwrite: bool,
    mixed: bool,
    progress: Progress,
) -> Output:
    """Writes the vectors, their ids and the manifest, unless they are there."""
    ids, encoded_texts = content
    manifest = {
        "schema_version": 1,
        "rankwell": rankwell.__version__,
        "texts": {"count": len(encoded_texts), "hash": hash_texts(ids, encoded_texts)},
        "encoder": encoder.describe(),
        "dtype": options.dtype,
        **_mixed(encoder),
    }
    refuse_blocked(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    notes = [f"{texts}: {len(encoded_texts)} texts{'' if ids is None else ' with ids'}"]
    with locked(output):
        if output.exists() and not overwrite:
            check_made_by(output, manifest, "texts", mixed=mixed)
            notes += filter(None, [mixed_note(output)])
            return Output(
                notes=(
                    *notes,
                    f"{output} is there and was made from these texts in this way; nothing to do",
                )
            )

        def _finish(digest: str) -> None:
            write_beside(output, manifest, digest, ids_content(ids), IDS_BESIDE)

        resumed = write_vectors(
            encoder,
            encoded_texts,
            output,
            identity=manifest,
            dtype=options.dtype,
            chunk=chunk_of(options.batch_size),
            before=_finish,
            resume=not isinstance(encoder, EncodedParts),
            progress=None
            if progress is None
            else lambda done, total: progress("encoding", done, total),
        )
    if resumed:
        notes.append(f"{resumed} vectors were there from a run that had not ended")
    if isinstance(encoder, EncodedParts) and encoder.mixture:
        notes.append(
            f"{output} is mixed: {mixture_text(encoder.mixture)}; no one machine can make it again"
        )
    return Output(
        notes=(
            *notes,
            Aside(f"wrote {output} ({len(encoded_texts)} × {encoder.dimensions} {options.dtype})"),
        )
    )


def _mixed(encoder: TextEncoder) -> dict[str, Any]:
    """The entry of a manifest on a mixture, where there is one."""
    return (
        {"mixed": encoder.machines()}
        if isinstance(encoder, EncodedParts) and encoder.mixture
        else {}
    )


def hash_texts(ids: Sequence[str] | None, texts: Sequence[str]) -> str:
    """The SHA-256 over all texts and their ids, in order; where one ends is part of it."""
    total = hashlib.sha256(b"positions" if ids is None else b"ids")
    for text in (*(ids or ()), *texts):
        raw = text.encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    return "sha256:" + total.hexdigest()

